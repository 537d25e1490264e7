"""Many cases as a job: it outlives this program, and nothing in it is asked twice."""

# %%
import crosspath

client = crosspath.Client()

# %% A data set that the service has, by name. Cases of your own: a list of them in its place, with `gold` where known.
job = client.batch("it_incident", aggregators=["loglin", "fwdjs", "minjs", "range", "plurality"])
print(job.id, job.state)

# %% Follow it. Stop here and come back whenever you like: `client.job(id)`.
for seen in client.follow(job.id):
    print(f"{seen.done} of {seen.cases}, {seen.calls} calls, {seen.counts}")

# %% Results come in case order, also while the job runs.
for record in client.results(job.id):
    print(record.id, record.gold, record.decisions["loglin"].label)

# %% How good was it? Accuracy on the cases with a gold label and every answer; the rest is counted, by reason.
report = client.report(job.id)
for name, score in report.accuracy.items():
    print(f"{name:12} {score.correct} of {score.n}")
print("left out:", report.exclusions or "none", "| stand-in:", report.stand_in)

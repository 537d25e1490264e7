"""The jobs on the disk: who finds which, and that those that ended are no burden."""

from pathlib import Path

import pytest

from app.jobs import store as job_store
from app.jobs.schemas import BatchOptions, Job, State
from app.jobs.store import JobEntry, JobFolder, JobStore, NoSuchJob, new_id, new_job, now


@pytest.fixture
def store(tmp_path: Path) -> JobStore:
    (tmp_path / "runs").mkdir()
    return JobStore(tmp_path / "runs")


def made(store: JobStore, owner: str = "me", state: State = "queued", cause: str | None = None) -> JobFolder:
    entry = JobEntry(id=new_id(), owner=owner, created=now(), domain="d", dataset=None, cases=1, options=BatchOptions())
    with store.staging() as staged:
        job = store.publish(staged, entry, new_job(entry))
    if state != "queued":
        job.tell(job.state().model_copy(update={"state": state, "cause": cause}), durable=False)
        store.shut(job)
    return job


def names(jobs: list[JobFolder]) -> list[str]:
    return [job.path.name for job in jobs]


def test_the_newest_of_an_owner_come_first(store: JobStore) -> None:
    jobs = [made(store, owner) for owner in ("me", "other", "me", "me")]

    assert names(store.newest("me", 2)) == names([jobs[3], jobs[2]])
    assert names(store.newest("me", 10)) == names([jobs[3], jobs[2], jobs[0]])
    assert store.newest("nobody", 10) == []


def test_those_to_see_to_are_the_unfinished_and_what_may_go_on(store: JobStore) -> None:
    queued = made(store)
    running = made(store, state="running")
    lifted = made(store, state="stopped", cause="unauthorised: 401")
    for state, cause in (("done", None), ("cancelled", None), ("failed", "KeyError"), ("stopped", "budget: spent")):
        made(store, state=state, cause=cause)  # type: ignore[arg-type]

    assert names(store.unfinished()) == names([queued, running, lifted])


def test_those_that_ended_are_not_looked_at(store: JobStore) -> None:
    """However many there are: an ended job's files could be gone, and nobody would see it."""
    ended, queued = made(store, state="done"), made(store)
    ended.events._path.unlink()

    assert names(store.unfinished()) == names([queued])


def test_a_listing_reads_as_many_jobs_as_it_shows(store: JobStore) -> None:
    jobs = [made(store, state="done") for _ in range(20)]
    job_store._read_entry.cache_clear()

    shown = store.newest("me", 3)

    assert names(shown) == names(jobs[:-4:-1])
    assert job_store._read_entry.cache_info().misses == 3


def test_an_end_that_a_killed_process_did_not_note_is_noted_later(store: JobStore) -> None:
    job = made(store)
    job.tell(job.state().model_copy(update={"state": "done"}), durable=False)

    assert store.unfinished() == []
    job.tell(_running(job), durable=False)
    assert store.unfinished() == [], "it is not looked at again"


def test_the_jobs_of_a_folder_that_marks_none_are_found(store: JobStore, tmp_path: Path) -> None:
    queued = made(store)
    made(store, state="done")
    for mark in (tmp_path / "runs" / ".open").iterdir():
        mark.unlink()
    (tmp_path / "runs" / ".open").rmdir()

    assert names(store.unfinished()) == names([queued])
    assert names(JobStore(tmp_path / "runs").unfinished()) == names([queued])


def test_without_a_folder_there_is_nothing(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "runs")

    assert (store.unfinished(), store.newest("me", 5)) == ([], [])
    with pytest.raises(NoSuchJob):
        store.get(new_id(), "me")


def test_a_foreign_folder_is_no_job(store: JobStore, tmp_path: Path) -> None:
    (tmp_path / "runs" / ("0" * 32)).mkdir()
    (tmp_path / "runs" / "20260101T000000-a-run").mkdir()

    assert store.newest("me", 5) == []


def _running(job: JobFolder) -> Job:
    return job.state().model_copy(update={"state": "running"})

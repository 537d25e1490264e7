"""What follows from what was seen: one check after another, in words, with what to do. Pure."""

from dataclasses import dataclass
from typing import Literal

from agents.endpoint import BackboneSettings
from agents.failure import Failure
from agents.wire import SAMPLING, Dialect
from app.doctor.forms import Kept, best_mode, json_object_kept, schema_kept
from app.doctor.observations import Observations, Seen
from app.doctor.probes import CODE_WORDS

State = Literal["good", "note", "bad", "unknown"]
"""As it should be; worth knowing; Crosspath does not work so; could not be told."""

_SLOWER = 5.0
"""Times a usual answer: a request held up for longer than this after another was broken off stood behind it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, what was found, and what to do about it ("" where nothing is)."""

    name: str
    state: State
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks, and the dialect for the client to begin with (None: no reply came)."""

    checks: tuple[Check, ...]
    dialect: Dialect | None

    @property
    def sound(self) -> bool:
        """Whether nothing stands in the way of using this endpoint."""
        return all(check.state != "bad" for check in self.checks)


def diagnose(seen: Observations, settings: BackboneSettings) -> Diagnosis:
    """What was seen of the endpoint with these settings."""
    if seen.contact.failure is not None:
        return Diagnosis((*_no_contact(seen.contact.failure, settings), *_steadiness(seen)), None)
    schema, json_object = schema_kept(seen.schema), json_object_kept(seen.json_object)
    checks = (
        *_contact(seen, settings),
        _form("json_schema", schema, seen.schema),
        _form("json_object", json_object, seen.json_object),
        _mode(best_mode(schema, json_object), settings),
        _sampling(seen, settings),
        _repeats(seen),
        _seed(seen),
        _usage(seen),
        _cached(seen),
        _finish(seen),
        _context(seen, settings),
        _own_question(seen),
        _disconnect(seen),
        *_steadiness(seen),
    )
    return Diagnosis(checks, _dialect(seen.dialect, schema, json_object, settings))


def _dialect(found: Dialect, schema: Kept, json_object: Kept, settings: BackboneSettings) -> Dialect:
    """What the client may begin with: sampling parameters are dropped only where the settings allow it, so that the
    refusal is met, and told, where they do not."""
    dropped = found.dropped if settings.allow_sampling_deviation else found.dropped - SAMPLING
    mode = best_mode(schema, json_object) if settings.structured == "auto" else settings.structured
    return Dialect(mode, found.limit_name, dropped)


def _no_contact(failure: Failure, settings: BackboneSettings) -> list[Check]:
    """Why there was no reply at all; what was found before that is good."""
    reached = Check("reachable", "good", "the server answers")
    accepted = Check("key", "good", "the key is accepted" if settings.api_key else "no key is asked for")
    if failure.cause in ("connection", "timeout", "deadline"):
        advice = (
            f"Is it running, and is base_url ({settings.base_url}) right? It must end where /chat/completions begins."
        )
        return [Check("reachable", "bad", failure.detail, advice)]
    if failure.cause == "unauthorised":
        advice = "Check the variable that api_key_env names." if settings.api_key else "Declare api_key_env."
        return [reached, Check("key", "bad", f"refused: {failure.detail}", advice)]
    if failure.status == 404:
        path = (
            ""
            if failure.code == "model_not_found"
            else f" If the model is there, base_url ({settings.base_url}) is wrong."
        )
        advice = f"Does the server have a model {settings.model!r}?{path}"
        return [reached, accepted, Check("model", "bad", f"not found: {failure.detail}", advice)]
    if failure.cause in ("rate_limited", "server_error"):
        advice = (
            "Is the account paid for, and the quota high enough?" if failure.again == "never" else "Try again later."
        )
        return [Check("reachable", "bad", f"the server answers, but not to this: {failure.detail}", advice)]
    advice = "The model's own log says more; a 400 names what it does not take." if failure.status else ""
    return [reached, Check("reply", "bad", failure.detail, advice)]


def _contact(seen: Observations, settings: BackboneSettings) -> list[Check]:
    reply = seen.contact.reply
    named = reply.model if reply is not None else ""
    key = "accepted, or not looked at" if settings.api_key else "none is declared, and none was asked for"
    checks = [Check("reachable", "good", f"answers in {seen.contact.seconds:.2f} s"), Check("key", "good", key)]
    if named in ("", settings.model):
        return [
            *checks,
            Check("model", "good", settings.model if named else f"{settings.model}; replies do not name it"),
        ]
    advice = "Results name both. Declare the name that is meant, so that a run can be repeated."
    return [*checks, Check("model", "note", f"answers as {named}", advice)]


def _form(name: str, kept: Kept, seen: Seen | None) -> Check:
    title = f"form {name}"
    if kept == "enforced":
        return Check(title, "good", "enforced: a reply that it forbids could not be had")
    if kept == "ignored":
        return Check(title, "note", "taken, and ignored: the reply was one that it forbids")
    detail = seen.failure.detail if seen is not None and seen.failure is not None else "not asked"
    return Check(title, "note" if kept == "refused" else "unknown", f"{kept}: {detail}")


def _mode(best: str, settings: BackboneSettings) -> Check:
    declared = settings.structured
    if declared in ("auto", best):
        how = {"prompt": "in words only; replies are read strictly, so some may be lost"}.get(best, f"as {best}")
        return Check("structured", "note" if best == "prompt" else "good", f"the form is asked for {how}")
    advice = f'Set structured = "auto", or "{best}".'
    return Check("structured", "note", f"{declared} is declared; the most binding mode that is kept is {best}", advice)


def _sampling(seen: Observations, settings: BackboneSettings) -> Check:
    refused = sorted(seen.dialect.dropped & SAMPLING)
    if refused:
        found = f"{' and '.join(refused)} refused as the method asks for them (0.6 and 0.95)"
        if settings.allow_sampling_deviation:
            return Check("sampling", "note", found, "They are left out, and every answer says so.")
        advice = "Choose another model, or set allow_sampling_deviation = true: they are left out and results say so."
        return Check("sampling", "bad", found, advice)
    if any(probe.failure is not None for probe in seen.cold):
        return Check("sampling", "unknown", f"temperature 0: {_detail(seen.cold)}")
    warm = _texts(seen.warm)
    if warm is None:
        return Check("sampling", "unknown", f"accepted; {_detail(seen.warm)}")
    if len(set(warm)) > 1:
        return Check("sampling", "good", "temperature and top-p are accepted, and 0.6 draws anew each time")
    found = "temperature and top-p are accepted, with no effect seen: 0.6 gave the same reply twice"
    return Check("sampling", "note", found, "A cache in between, or a server that ignores them?")


def _repeats(seen: Observations) -> Check:
    texts = _texts(seen.cold)
    if texts is None:
        return Check("repeats", "unknown", _detail(seen.cold))
    asked = "without a temperature" if "temperature" in seen.dialect.dropped else "at temperature 0"
    if len(set(texts)) == 1:
        return Check("repeats", "good", f"the same request twice {asked} gave the same reply")
    advice = "Elicited ranks will vary a little; `replay` and resumed runs rest on stored replies and do not."
    return Check("repeats", "note", f"the same request twice {asked} gave different replies", advice)


def _seed(seen: Observations) -> Check:
    if "seed" in seen.dialect.dropped:
        return Check("seed", "note", "refused; it is left out, and repeated samples say so")
    texts = _texts(seen.seeded)
    if texts is None:
        return Check("seed", "unknown", _detail(seen.seeded))
    first, again, other = texts
    if first != again:
        return Check("seed", "note", "accepted, and ignored: one seed gave two replies")
    if first == other:
        return Check("seed", "unknown", "accepted; two seeds gave the same reply, so nothing can be told")
    return Check("seed", "good", "honoured: the same seed gave the same reply, another seed another")


def _usage(seen: Observations) -> Check:
    replies = [probe.reply for probe in seen.all_seen if probe.reply is not None]
    counted = sum(reply.usage.prompt is not None and reply.usage.completion is not None for reply in replies)
    if counted == len(replies):
        return Check("usage", "good", "tokens are counted in every reply")
    advice = "Costs are unknown, and a budget cannot be kept, where tokens are not counted."
    return Check("usage", "note", f"tokens are counted in {counted} of {len(replies)} replies", advice)


def _cached(seen: Observations) -> Check:
    counts = [probe.reply.usage.cached for probe in seen.all_seen if probe.reply is not None]
    told = [count for count in counts if count is not None]
    if not told:
        return Check("cached tokens", "note", "not reported; all input is priced as fresh")
    return Check("cached tokens", "good", f"reported: {max(told)} at most in these short requests")


def _finish(seen: Observations) -> Check:
    if seen.shortened is None or seen.shortened.failure is None:
        found = "a reply that the token limit cut off, or that should have been, came as a finished one"
        advice = "Half an answer cannot be told from a whole one by its finish_reason; only the strict reading is left."
        return Check("finish_reason", "note", found, advice)
    if seen.shortened.failure.cause == "truncated":
        return Check("finish_reason", "good", "a reply that is cut off says so (no refusal was provoked)")
    return Check("finish_reason", "unknown", seen.shortened.failure.detail)


def _context(seen: Observations, settings: BackboneSettings) -> Check:
    asked, size = seen.long_prompt, f"our longest prompt ({seen.long_characters:,} characters)"
    if asked is None or asked.failure is not None:
        failure = asked.failure if asked is not None else None
        if failure is None or failure.status not in (400, 413, 422):
            return Check("context", "unknown", failure.detail if failure else "not asked")
        advice = f"Give the server a longer context, or lower max_output_tokens ({settings.max_output_tokens})."
        return Check("context", "bad", f"{size} is refused: {failure.detail}", advice)
    lost = [word for word in CODE_WORDS if word not in (asked.text or "").casefold()]
    reply = asked.reply
    counted = "" if reply is None or reply.usage.prompt is None else f", {reply.usage.prompt:,} tokens as counted"
    if not lost:
        return Check("context", "good", f"{size}{counted} is read from beginning to end")
    places = ", ".join(
        place for place, word in zip(("beginning", "middle", "end"), CODE_WORDS, strict=True) if word in lost
    )
    advice = "Raise the server's context length (Ollama: num_ctx); a small model may also have overlooked it."
    return Check("context", "bad", f"of {size}{counted}, what stood at the {places} did not come back", advice)


def _own_question(seen: Observations) -> Check:
    if seen.own_read:
        return Check("own question", "good", "the longest of Crosspath's own questions was answered, and could be read")
    if seen.own_question is None or seen.own_question.failure is None:
        advice = "One reply may fail; if most do, the model is too small for the form, or no form is enforced."
        return Check("own question", "note", "the reply to one of Crosspath's own questions could not be read", advice)
    advice = ""
    if seen.own_question.failure.cause == "truncated":
        advice = "Raise max_output_tokens: thinking counts too."
    return Check("own question", "note", f"no answer: {seen.own_question.failure.detail}", advice)


def _disconnect(seen: Observations) -> Check:
    met = seen.interrupted
    if met is None or met.early:
        return Check("disconnect", "unknown", "a long answer came before it could be broken off")
    if met.after is None or met.after.reply is None:
        return Check("disconnect", "unknown", "no long answer could be had to break off")
    if met.after.seconds > _SLOWER * max(met.patience, seen.contact.seconds):
        advice = (
            "A question given up may go on and cost: keep `concurrency` near what the server really does at a time."
        )
        waited = f"the next request took {met.after.seconds:.1f} s, as if it stood behind one that was broken off"
        return Check("disconnect", "note", waited, advice)
    return Check("disconnect", "unknown", "the next request was not held up; whether the first went on cannot be seen")


def _steadiness(seen: Observations) -> list[Check]:
    failed = seen.faults.total()
    if not failed:
        return [Check("steadiness", "good", f"{seen.requests} requests, none failed")]
    causes = ", ".join(f"{cause} {count}" for cause, count in sorted(seen.faults.items()))
    return [Check("steadiness", "note", f"{failed} of {seen.requests} requests failed: {causes}")]


def _texts(probes: tuple[Seen, ...]) -> list[str] | None:
    """The replies, if all came."""
    texts = [probe.text for probe in probes if probe.text is not None]
    return texts if probes and len(texts) == len(probes) else None


def _detail(probes: tuple[Seen, ...]) -> str:
    return next((probe.failure.detail for probe in probes if probe.failure is not None), "not asked")

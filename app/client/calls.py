"""What a program can ask of a running service, as values: each is made and read with no network.

`client` and `async_client` send them.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypedDict, TypeVar

import httpx
import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from app.access.origins import is_loopback
from app.jobs.schemas import BatchCase, BatchReport, Job
from app.schemas.aggregate import AggregateAnswer, AggregateParams, OwnCase
from app.schemas.catalogue import AggregatorEntry, AnchorEntry, BackboneEntry, DomainAnswer, DomainSummary
from app.schemas.decide import AbstainBelow, AgentAnswer, AnchorAnswer, CaseBody, DecideParams, Decision
from domains.errors import CrosspathError, Fault
from evaluation.records import Record, decode_record

T = TypeVar("T")
Members = Mapping[str, Any]

EVENT, DATA = b"event: ", b"data: "
"""What the name and the payload of a server-sent event begin with."""
LOCAL = "http://127.0.0.1:8000"
URL, KEY = "CROSSPATH_URL", "CROSSPATH_API_KEY"
TIMEOUT_S = 180.0
"""Longer than a decision may take by default."""
STREAM = httpx.Timeout(TIMEOUT_S, read=None)
"""The next result comes when it comes."""


class DecideOptions(TypedDict, total=False):
    """What `decide` takes beside the case; what is left out is as the service has it (`POST /decide`)."""

    domain: str
    labels: Sequence[str]
    aggregator: str
    anchor: str | None
    backbone: str
    agents: Sequence[str]
    params: DecideParams | Members
    compare: Sequence[str]
    require: Literal["any", "complete"]
    abstain_below: AbstainBelow | Members
    deadline_s: float


class BatchOptions(TypedDict, total=False):
    """What `batch` takes beside the cases; what is left out is as the service has it (`POST /batch`)."""

    domain: str
    aggregators: Sequence[str]
    anchor: str | None
    backbone: str
    agents: Sequence[str]
    budget_usd: float
    params: DecideParams | Members


class AggregateOptions(TypedDict, total=False):
    """What `aggregate` takes beside labels and cases (`POST /aggregate`)."""

    aggregators: Sequence[str]
    params: AggregateParams | Members


class Refusal(CrosspathError):
    """The service answered that it will not or cannot.

    `status` is the HTTP code, `faults` name what is wrong with the input, and `problem` is the whole body (RFC 9457):
    where too few agents answered, its `agents` tell each one's state. `retry_after_s` says when to come back, where
    the service does.
    """

    def __init__(self, status: int, problem: Members, retry_after_s: float | None = None) -> None:
        self.status = status
        self.problem = dict(problem)
        self.detail = str(problem.get("detail", "the answer is no problem document"))
        self.faults = tuple(Fault(each["field"], each["message"]) for each in problem.get("errors") or ())
        self.retry_after_s = retry_after_s
        super().__init__("; ".join([f"{status}: {self.detail}", *map(str, self.faults)]))


class NotUnderstood(CrosspathError):
    """The answer is not what this version knows: the service is of another one, or something else answers there."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how its answer is read; one that is answered bit by bit, how each is. `again` is the
    Idempotency-Key it is sent with, `accept` the content type asked for, if any."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    read: Callable[[bytes], T]
    body: bytes | None = None
    again: str | None = None
    accept: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that this request has of its own."""
        own = {"Content-Type": "application/json"} if self.body is not None else {}
        own |= {"Accept": self.accept} if self.accept else {}
        return own | ({"Idempotency-Key": self.again} if self.again else {})


def reader(kind: type[T]) -> Callable[[bytes], T]:
    """Reads JSON as a value of that type, without a word of it in an error."""
    adapter = TypeAdapter(kind)

    def read(content: bytes) -> T:
        try:
            return adapter.validate_json(content)
        except ValidationError as error:
            told = error.errors(include_input=False, include_context=False, include_url=False)
            places = ", ".join(".".join(map(str, each["loc"])) or "the whole" for each in told[:3])
            raise NotUnderstood(f"the answer is not as this version expects it: {places}") from None

    return read


_read_job = reader(Job)
_read_decision = reader(Decision)
_read_aggregated = reader(AggregateAnswer)
_read_report = reader(BatchReport)
_read_record = reader(dict[str, Any])
_read_jobs = reader(list[Job])


def _read_result(line: bytes) -> Record:
    return decode_record(line, "a result")


Event = AgentAnswer | AnchorAnswer | Decision
"""What is told while a decision is made; the decision is the last."""
_READ_EVENT: Mapping[bytes, Callable[[bytes], Event]] = {
    b"agent": reader(AgentAnswer),
    b"anchor": reader(AnchorAnswer),
    b"decision": _read_decision,
}


def decide(case: CaseBody | Members, options: DecideOptions, again: str | None) -> Call[Decision]:
    """`POST /decide`."""
    return Call("POST", "/decide", _read_decision, to_json({"case": case, **options}), again)


def told(case: CaseBody | Members, options: DecideOptions) -> Call[Decision]:
    """`POST /decide`, answered as events."""
    return replace(decide(case, options, None), accept="text/event-stream")


class Told:
    """Lines of a decision's events as they come, as what each says: an agent's answer, the anchor, the decision."""

    def __init__(self) -> None:
        self._kind = b""

    def feed(self, line: bytes) -> Event | None:
        """What this line completes, if anything.

        Raises:
            Refusal: it is the problem that stands in the decision's place.
            NotUnderstood: the service is of another version.
        """
        if line.startswith(EVENT):
            self._kind = line.removeprefix(EVENT)
        if not line.startswith(DATA):
            return None
        content = line.removeprefix(DATA)
        if self._kind == b"problem":
            problem = _read_record(content)
            raise Refusal(problem.get("status", 503), problem)
        read = _READ_EVENT.get(self._kind)
        return None if read is None else read(content)


def aggregate(
    labels: Sequence[str], cases: Iterable[OwnCase | Members], options: AggregateOptions
) -> Call[AggregateAnswer]:
    """`POST /aggregate`."""
    body = {"labels": list(labels), "cases": list(cases), **options}
    return Call("POST", "/aggregate", _read_aggregated, to_json(body))


def batch(cases: Iterable[BatchCase | Members] | str, options: BatchOptions, again: str | None) -> Call[Job]:
    """`POST /batch`; a text is the name of a data set that the service has."""
    given = {"dataset": cases} if isinstance(cases, str) else {"cases": list(cases)}
    return Call("POST", "/batch", _read_job, to_json({**given, **options}), again)


def job(job_id: str) -> Call[Job]:
    """`GET /batch/{id}`."""
    return Call("GET", f"/batch/{job_id}", _read_job)


def events(job_id: str) -> Call[Job]:
    """`GET /batch/{id}/events`."""
    return Call("GET", f"/batch/{job_id}/events", _read_job)


def results(job_id: str) -> Call[Record]:
    """`GET /batch/{id}/results`."""
    return Call("GET", f"/batch/{job_id}/results", _read_result)


def jobs() -> Call[list[Job]]:
    """`GET /batch`."""
    return Call("GET", "/batch", _read_jobs)


def cancel(job_id: str) -> Call[Job]:
    """`DELETE /batch/{id}`."""
    return Call("DELETE", f"/batch/{job_id}", _read_job)


def report(job_id: str) -> Call[BatchReport]:
    """`GET /batch/{id}/report`."""
    return Call("GET", f"/batch/{job_id}/report", _read_report)


def record(decision_id: str) -> Call[dict[str, Any]]:
    """`GET /decisions/{id}`."""
    return Call("GET", f"/decisions/{decision_id}", _read_record)


DOMAINS = Call("GET", "/domains", reader(list[DomainSummary]))
AGGREGATORS = Call("GET", "/aggregators", reader(list[AggregatorEntry]))
ANCHORS = Call("GET", "/anchors", reader(list[AnchorEntry]))
BACKBONES = Call("GET", "/backbones", reader(list[BackboneEntry]))
_read_domain = reader(DomainAnswer)


def domain(name: str) -> Call[DomainAnswer]:
    """`GET /domains/{name}`."""
    return Call("GET", f"/domains/{name}", _read_domain)


class Lines:
    """Bytes as they come, as whole lines. (A label may hold what Python, but not JSON, takes for a line end.)"""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes."""
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        return whole


class Connection(TypedDict):
    """What an httpx client is made with."""

    base_url: httpx.URL
    headers: Mapping[str, str]
    timeout: float
    trust_env: bool


def connection(base_url: str | None, api_key: str | None, timeout_s: float) -> Connection:
    """Where a service is and how it is asked: as given, else as the environment says, else on this machine."""
    url = httpx.URL(base_url or os.environ.get(URL) or LOCAL)
    key = api_key or os.environ.get(KEY)
    return {
        "base_url": url,
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": timeout_s,
        "trust_env": not is_loopback(url.host),  # no proxy leads to this machine
    }


def refusal(answer: httpx.Response) -> Refusal:
    """What an answer that is no success says, whoever gave it."""
    try:
        problem = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        problem = None
    wait = answer.headers.get("Retry-After", "")
    return Refusal(
        answer.status_code, problem if isinstance(problem, dict) else {}, float(wait) if wait.isdigit() else None
    )

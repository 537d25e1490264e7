"""A service's client in Python, `crosspath.Client`; `app.client.async_client` is the same for asyncio.

Errors: `Refusal` (the service says no, and why), `NotUnderstood` (it is of another version), and those of httpx where
no answer comes (`httpx.TransportError`).
"""

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from app.client import calls
from app.client.calls import AggregateOptions, BatchOptions, Call, DecideOptions, Event, Lines, Members, Told
from app.jobs.schemas import ENDED, BatchCase, BatchReport, Job
from app.schemas.aggregate import AggregateAnswer, OwnCase
from app.schemas.catalogue import AggregatorEntry, AnchorEntry, BackboneEntry, DomainAnswer, DomainSummary
from app.schemas.decide import CaseBody, Decision
from evaluation.records import Record

T = TypeVar("T")


class Client:
    """Asks a running service; each method is one request, but for `wait`. `stream`, `follow` and `results` yield
    what comes while it comes.

    The address is `base_url`, else the variable CROSSPATH_URL, else http://127.0.0.1:8000; the key `api_key`, else
    CROSSPATH_API_KEY, else none. `transport` takes the place of httpx's own.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout_s: float = calls.TIMEOUT_S,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(**calls.connection(base_url, api_key, timeout_s), transport=transport)

    def decide(
        self, case: CaseBody | Members, *, idempotency_key: str | None = None, **options: Unpack[DecideOptions]
    ) -> Decision:
        """One case, one decision.

        Raises:
            Refusal: the input cannot be used (422, with `faults`), or too few agents answered (503).
        """
        return self._send(calls.decide(case, options, idempotency_key))

    def stream(self, case: CaseBody | Members, **options: Unpack[DecideOptions]) -> Iterator[Event]:
        """One case, told while it is decided: each agent's answer as it comes, the anchor, and last the decision.
        To stop listening ends the work.

        Raises:
            Refusal: as `decide`.
        """
        told = Told()
        for line in self._lines(calls.told(case, options)):
            if (event := told.feed(line)) is not None:
                yield event

    def aggregate(
        self, labels: Sequence[str], cases: Iterable[OwnCase | Members], **options: Unpack[AggregateOptions]
    ) -> AggregateAnswer:
        """Decisions on posteriors of one's own agents; no model is asked. In this process: `crosspath.aggregate`."""
        return self._send(calls.aggregate(labels, cases, options))

    def batch(
        self,
        cases: Iterable[BatchCase | Members] | str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[BatchOptions],
    ) -> Job:
        """Begin a job on many cases, or on a data set that the service has by name. It outlives this program."""
        return self._send(calls.batch(cases, options, idempotency_key))

    def job(self, job_id: str) -> Job:
        """How far a job is."""
        return self._send(calls.job(job_id))

    def jobs(self) -> list[Job]:
        """One's own jobs, newest first."""
        return self._send(calls.jobs())

    def follow(self, job_id: str) -> Iterator[Job]:
        """The job each time it has come further, until it has ended or the service stops."""
        call = calls.events(job_id)
        for line in self._lines(call):
            if line.startswith(calls.DATA):
                yield call.read(line.removeprefix(calls.DATA))

    def wait(self, job_id: str) -> Job:
        """The job when it has ended, however that was: see its `state` and `cause`."""
        job = self.job(job_id)
        while job.state not in ENDED:
            for seen in self.follow(job_id):
                job = seen
        return job

    def results(self, job_id: str) -> Iterator[Record]:
        """Each result in case order, as soon as it is there, to the end of the job. One that was cancelled or stopped
        has fewer results than cases."""
        call = calls.results(job_id)
        for line in self._lines(call):
            yield call.read(line)

    def report(self, job_id: str) -> BatchReport:
        """The evaluation of the results so far, of cases with gold labels."""
        return self._send(calls.report(job_id))

    def cancel(self, job_id: str) -> Job:
        """Stop a job; its results so far stay."""
        return self._send(calls.cancel(job_id))

    def record(self, decision_id: str) -> dict[str, Any]:
        """What a decision rested on, for as long as the service keeps records."""
        return self._send(calls.record(decision_id))

    def domains(self) -> list[DomainSummary]:
        """What can be decided about."""
        return self._send(calls.DOMAINS)

    def domain(self, name: str) -> DomainAnswer:
        """One domain: labels, findings, examples."""
        return self._send(calls.domain(name))

    def aggregators(self) -> list[AggregatorEntry]:
        """Aggregators by name."""
        return self._send(calls.AGGREGATORS)

    def anchors(self) -> list[AnchorEntry]:
        """Anchors by name."""
        return self._send(calls.ANCHORS)

    def backbones(self) -> list[BackboneEntry]:
        """Backbones by name."""
        return self._send(calls.BACKBONES)

    def _send(self, call: Call[T]) -> T:
        answer = self._http.request(call.method, call.path, content=call.body, headers=call.headers)
        if not answer.is_success:
            raise calls.refusal(answer)
        return call.read(answer.content)

    def _lines(self, call: Call[Any]) -> Iterator[bytes]:
        with self._http.stream(
            call.method, call.path, content=call.body, headers=call.headers, timeout=calls.STREAM
        ) as answer:
            if not answer.is_success:
                answer.read()
                raise calls.refusal(answer)
            lines = Lines()
            for chunk in answer.iter_bytes():
                yield from lines.feed(chunk)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

"""`crosspath.AsyncClient`: `app.client.client` for asyncio."""

from collections.abc import AsyncIterator, Iterable, Sequence
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


class AsyncClient:
    """The same for asyncio. Beyond some hundred requests at a time, which are better sent as a batch, pass a
    `transport` whose pool is made for it, as `httpx_aiohttp.AiohttpTransport()`."""

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout_s: float = calls.TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(**calls.connection(base_url, api_key, timeout_s), transport=transport)

    async def decide(
        self, case: CaseBody | Members, *, idempotency_key: str | None = None, **options: Unpack[DecideOptions]
    ) -> Decision:
        """See `Client.decide`."""
        return await self._send(calls.decide(case, options, idempotency_key))

    async def stream(self, case: CaseBody | Members, **options: Unpack[DecideOptions]) -> AsyncIterator[Event]:
        """See `Client.stream`."""
        told = Told()
        async for line in self._lines(calls.told(case, options)):
            if (event := told.feed(line)) is not None:
                yield event

    async def aggregate(
        self, labels: Sequence[str], cases: Iterable[OwnCase | Members], **options: Unpack[AggregateOptions]
    ) -> AggregateAnswer:
        """See `Client.aggregate`."""
        return await self._send(calls.aggregate(labels, cases, options))

    async def batch(
        self,
        cases: Iterable[BatchCase | Members] | str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[BatchOptions],
    ) -> Job:
        """See `Client.batch`."""
        return await self._send(calls.batch(cases, options, idempotency_key))

    async def job(self, job_id: str) -> Job:
        """See `Client.job`."""
        return await self._send(calls.job(job_id))

    async def jobs(self) -> list[Job]:
        """See `Client.jobs`."""
        return await self._send(calls.jobs())

    async def follow(self, job_id: str) -> AsyncIterator[Job]:
        """See `Client.follow`."""
        call = calls.events(job_id)
        async for line in self._lines(call):
            if line.startswith(calls.DATA):
                yield call.read(line.removeprefix(calls.DATA))

    async def wait(self, job_id: str) -> Job:
        """See `Client.wait`."""
        job = await self.job(job_id)
        while job.state not in ENDED:
            async for seen in self.follow(job_id):
                job = seen
        return job

    async def results(self, job_id: str) -> AsyncIterator[Record]:
        """See `Client.results`."""
        call = calls.results(job_id)
        async for line in self._lines(call):
            yield call.read(line)

    async def report(self, job_id: str) -> BatchReport:
        """See `Client.report`."""
        return await self._send(calls.report(job_id))

    async def cancel(self, job_id: str) -> Job:
        """See `Client.cancel`."""
        return await self._send(calls.cancel(job_id))

    async def record(self, decision_id: str) -> dict[str, Any]:
        """See `Client.record`."""
        return await self._send(calls.record(decision_id))

    async def domains(self) -> list[DomainSummary]:
        """See `Client.domains`."""
        return await self._send(calls.DOMAINS)

    async def domain(self, name: str) -> DomainAnswer:
        """See `Client.domain`."""
        return await self._send(calls.domain(name))

    async def aggregators(self) -> list[AggregatorEntry]:
        """See `Client.aggregators`."""
        return await self._send(calls.AGGREGATORS)

    async def anchors(self) -> list[AnchorEntry]:
        """See `Client.anchors`."""
        return await self._send(calls.ANCHORS)

    async def backbones(self) -> list[BackboneEntry]:
        """See `Client.backbones`."""
        return await self._send(calls.BACKBONES)

    async def _send(self, call: Call[T]) -> T:
        answer = await self._http.request(call.method, call.path, content=call.body, headers=call.headers)
        if not answer.is_success:
            raise calls.refusal(answer)
        return call.read(answer.content)

    async def _lines(self, call: Call[Any]) -> AsyncIterator[bytes]:
        async with self._http.stream(
            call.method, call.path, content=call.body, headers=call.headers, timeout=calls.STREAM
        ) as answer:
            if not answer.is_success:
                await answer.aread()
                raise calls.refusal(answer)
            lines = Lines()
            async for chunk in answer.aiter_bytes():
                for line in lines.feed(chunk):
                    yield line

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

"""What the service counts, for Prometheus. A registry of its own for each app; every label is one of few values.

Nothing of a case, a reply or a key is a label or a value: names of backbones, personas and aggregators, causes, states
and numbers only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from agents.breaker import State
from agents.health import Health
from agents.lane import Lane
from agents.observer import Outcome
from agents.replies import Usage
from app.answers import Ruling, questions
from app.clerk import Clerk
from app.counts import Counts, Times
from app.degradation import Status
from app.hearing import Hearing
from app.schemas.common import Members
from domains.errors import Cause

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0, 300.0)
BREAKER_STATES: tuple[State, ...] = ("closed", "half_open", "open")

Read = Callable[[], Mapping[str, float]]
"""A gauge that is read when it is asked for: what it counts, by label."""


class _OneWorkers(CollectorRegistry):
    """A registry of one of several workers: its name stands on every sample, so that those who answer in turn at the
    same address are not taken for one."""

    def __init__(self, registry: CollectorRegistry, worker: str) -> None:
        super().__init__()
        self._counted, self._worker = registry, worker

    def collect(self) -> Iterator[Metric]:
        """Every metric."""
        for metric in self._counted.collect():
            metric.samples = [each._replace(labels={**each.labels, "worker": self._worker}) for each in metric.samples]
            yield metric


class Metrics(Clerk):
    """Counts what it is told: what the council does (a `Clerk`) and what happens at each door (an `Observer`)."""

    def __init__(self, worker: str = "") -> None:
        self._worker = worker
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        GCCollector(registry)

        def counts(name: str, tells: str, *labels: str) -> Counts:
            registry.register(made := Counts(name, tells, labels))
            return made

        def times(name: str, tells: str, *labels: str) -> Times:
            registry.register(made := Times(name, tells, labels, SECONDS))
            return made

        self._decisions = counts(
            "crosspath_decisions",
            "Decisions by status: complete, degraded, failed (too few agents), refused (not complete as required)",
            *("status", "aggregator", "backbone"),
        )
        self._degraded = counts("crosspath_degraded", "Entries of `degraded`, by the word before the colon", "entry")
        self._seconds = times("crosspath_decision_seconds", "From the first question to the answer", "status")
        self._lost = counts(
            "crosspath_agent_failures",
            "Questions of decisions without an answer, by who or what asked and the cause",
            *("asked", "cause"),
        )
        self._attempts = counts(
            "crosspath_upstream_attempts",
            "Requests sent, by what came of them (ok: a reply came)",
            *("backbone", "outcome"),
        )
        self._retries = counts(
            "crosspath_upstream_retries", "Requests sent for a question that had been sent before", "backbone"
        )
        self._no_budget = counts(
            "crosspath_retry_budget_spent", "Requests not sent again since the retry budget was spent", "backbone"
        )
        self._upstream_seconds = times("crosspath_upstream_seconds", "One request's time", "backbone")
        self._admission_seconds = times(
            "crosspath_upstream_wait_seconds", "Time that a request waited for its slot", "backbone", "lane"
        )
        self._questions = counts(
            "crosspath_questions",
            "Questions by where the answer came from: model, cache, or none",
            *("backbone", "answered"),
        )
        self._tokens = counts("crosspath_tokens", "Tokens spent", "backbone", "kind")
        self._dollars = counts("crosspath_cost_usd", "US dollars spent", "backbone")
        self._unknown = counts("crosspath_cost_unknown", "Questions whose cost is not known", "backbone")
        self._breaker_opened = counts(
            "crosspath_breaker_changes", "Changes of a breaker into a state", "backbone", "state"
        )
        self._records_lost = Counter(
            "crosspath_records_lost", "Decision records that could not be kept", registry=registry
        )
        self._jobs = Gauge("crosspath_jobs", "Batch jobs that have not ended", ("state",), registry=registry)
        self._requests = counts("crosspath_http_requests", "Requests answered", "method", "route", "status")

    def exposition(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(_OneWorkers(self.registry, self._worker) if self._worker else self.registry)

    def watch(self, name: str, description: str, label: str, read: Read, *, counter: bool = False) -> None:
        """Add a gauge, or a counter that somebody else keeps, that is read whenever the metrics are."""
        self.registry.register(_Watched(name, description, label, read, counter))

    def watch_backbones(self, healths: Callable[[], Mapping[str, Health]]) -> None:
        """Add the gauges of how each backbone stands."""
        self.registry.register(_Backbones(healths))

    # ---- a clerk

    def heard(self, hearing: Hearing) -> None:
        for asked, outcome in questions(hearing).items():
            if outcome.failure is not None:
                self._lost.count(asked, outcome.failure.cause)

    def decided(self, hearing: Hearing, ruling: Ruling, decision: Members) -> None:
        self._concluded(hearing, decision["status"])
        self._seconds.observe(decision["status"], seconds=decision["timing_ms"]["total"] / 1000)
        for entry in decision["degraded"]:
            self._degraded.count(entry.partition(":")[0])

    def refused(self, hearing: Hearing, status: Status) -> None:
        self._concluded(hearing, "failed" if status == "failed" else "refused")

    def _concluded(self, hearing: Hearing, status: str) -> None:
        inquiry = hearing.inquiry
        self._decisions.count(status, inquiry.aggregator, inquiry.backbone.name)

    # ---- an observer of the doors

    def admitted(self, backbone: str, lane: Lane, seconds: float) -> None:
        """See `agents.observer.Observer`."""
        self._admission_seconds.observe(backbone, lane, seconds=seconds)

    def attempted(self, backbone: str, outcome: Outcome, seconds: float, *, extra: bool) -> None:
        """See `agents.observer.Observer`."""
        self._attempts.count(backbone, outcome)
        self._upstream_seconds.observe(backbone, seconds=seconds)
        if extra:
            self._retries.count(backbone)

    def answered(self, backbone: str, *, cached: bool, usage: Usage, dollars: float | None) -> None:
        """See `agents.observer.Observer`."""
        self._questions.count(backbone, "cache" if cached else "model")
        self._spent(backbone, usage, dollars)

    def failed(self, backbone: str, cause: Cause, usage: Usage, dollars: float | None) -> None:
        """See `agents.observer.Observer`."""
        self._questions.count(backbone, "none")
        self._spent(backbone, usage, dollars)

    def budget_spent(self, backbone: str) -> None:
        """See `agents.observer.Observer`."""
        self._no_budget.count(backbone)

    def breaker(self, backbone: str, state: State) -> None:
        """See `agents.observer.Observer`."""
        self._breaker_opened.count(backbone, state)

    def _spent(self, backbone: str, usage: Usage, dollars: float | None) -> None:
        for kind, tokens in (("prompt", usage.prompt), ("completion", usage.completion), ("cached", usage.cached)):
            if tokens:
                self._tokens.count(backbone, kind, amount=tokens)
        if dollars is None:
            self._unknown.count(backbone)
        elif dollars:
            self._dollars.count(backbone, amount=dollars)

    # ---- the others

    def jobs(self, states: Mapping[str, int]) -> None:
        """How many batch jobs there are that have not ended, by state."""
        self._jobs.clear()
        for state, number in states.items():
            self._jobs.labels(state).set(number)

    def record_lost(self) -> None:
        """A decision record could not be kept."""
        self._records_lost.inc()

    def request(self, method: str, route: str, status: int) -> None:
        """A request was answered; `route` is the template of its path."""
        self._requests.count(method, route, status)


class _Watched(Collector):
    def __init__(self, name: str, description: str, label: str, read: Read, counter: bool) -> None:
        self._name, self._description, self._label, self._read = name, description, label, read
        self._family = CounterMetricFamily if counter else GaugeMetricFamily

    def collect(self) -> Iterable[Metric]:
        family = self._family(self._name, self._description, labels=(self._label,))
        for value, number in self._read().items():
            family.add_metric((value,), number)
        yield family


class _Backbones(Collector):
    def __init__(self, healths: Callable[[], Mapping[str, Health]]) -> None:
        self._healths = healths

    def collect(self) -> Iterator[Metric]:
        flight = GaugeMetricFamily("crosspath_upstream_in_flight", "Requests in flight", labels=("backbone",))
        most = GaugeMetricFamily("crosspath_upstream_limit", "Requests that may be in flight", labels=("backbone",))
        waiting = GaugeMetricFamily(
            "crosspath_upstream_waiting", "Requests that wait for a slot", labels=("backbone", "lane")
        )
        breaker = GaugeMetricFamily(
            "crosspath_breaker_state", "1 for the state the breaker is in", labels=("backbone", "state")
        )
        for name, health in self._healths().items():
            flight.add_metric((name,), health.in_flight)
            most.add_metric((name,), health.may_be_in_flight)
            for lane, requests in health.waiting.items():
                waiting.add_metric((name, lane), requests)
            for state in BREAKER_STATES:
                breaker.add_metric((name, state), float(health.breaker == state))
        yield from (flight, most, waiting, breaker)

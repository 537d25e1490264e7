"""The gauges of a service: what is not counted when it happens but read whenever somebody asks."""

from starlette.datastructures import State

from agents.replies.reply import ALARMS
from app.access.gates import Gates
from app.inquiry import Council
from app.metrics import Metrics
from app.records.keeping import Records


def watch_service(state: State) -> None:
    """Have the metrics of a service that has just opened show how it stands."""
    metrics: Metrics = state.metrics
    gates: Gates = state.gates
    council: Council = state.council
    records: Records | None = state.records
    admissions = {"decide": gates.decisions, "aggregate": gates.aggregations}
    metrics.watch_backbones(lambda: {name: backbone.health() for name, backbone in council.backbones.items()})
    metrics.watch(
        "crosspath_in_flight",
        "Requests that are worked on",
        "path",
        lambda: {path: admission.working for path, admission in admissions.items()},
    )
    metrics.watch(
        "crosspath_waiting",
        "Requests that stand in line",
        "path",
        lambda: {path: admission.waiting for path, admission in admissions.items()},
    )
    metrics.watch(
        "crosspath_cache_alarms",
        "Stored replies that were none to their key: each was taken for a miss",
        "kind",
        lambda: ALARMS,
        counter=True,
    )
    redis = council.redis
    if redis is not None:
        metrics.watch(
            "crosspath_redis_outage",
            "1 while Redis is away, or takes no writes",
            "kind",
            lambda: {"away": int(redis.away), "refuses_writes": int(redis.refuses_writes)},
        )
    if records is not None:
        metrics.watch(
            "crosspath_records_waiting",
            "Decision records that are not written yet",
            "where",
            lambda: {"file": records.waiting},
        )

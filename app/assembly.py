"""Puts a council together from the settings: catalogue, reply store, a transport for each backbone."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette

from agents.backbone import Backbone
from agents.endpoint import BackboneSettings
from agents.limits import open_limits
from agents.observer import NOBODY, Observer
from agents.personas import personas_for
from agents.redis_client import RedisServer
from agents.replies import open_replies
from agents.transport import open_transport
from app.calibrations import Calibrations
from app.doctor.profile import profile_path, starting_dialect
from app.elicitation.redis import RedisTables
from app.elicitation.sqlite import SqliteTables
from app.elicitation.tables import Tables
from app.inquiry import Council, read_personas
from app.settings import STAND_IN_URL, Settings
from domains.catalogue import Catalogue
from domains.errors import BadInput
from simulator.server import create_simulator
from simulator.stand_in import knowing_packs

Wrap = Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]


def as_it_is(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
    """No other transport."""
    return inner


@asynccontextmanager
async def open_council(
    settings: Settings, stand_in_transport: Wrap = as_it_is, observer: Observer = NOBODY, processes: int = 1
) -> AsyncIterator[Council]:
    """The council for the life of a process; its transports and stores close with it.

    `stand_in_transport` may put another transport before that of the stand-in in this process. `observer` is told what
    happens at the doors to the models. Of `processes` that serve, this is one.

    Raises:
        BadInput: a setting that cannot be used.
    """
    catalogue = Catalogue(settings.domains_dir)
    async with AsyncExitStack() as stack:
        redis = open_server(settings)
        if redis is not None:
            stack.push_async_callback(redis.close)
        store = open_replies(settings.replies, settings.replies_file, redis)
        stack.push_async_callback(store.close)
        tables = open_tables(settings, redis)
        stack.push_async_callback(tables.close)
        declared = settings.declared_backbones()
        backbones: dict[str, Backbone] = {}
        for name, backbone_settings in declared.items():
            transport = await stack.enter_async_context(transport_for(backbone_settings, catalogue, stand_in_transport))
            limits = open_limits(name, backbone_settings, redis, observer, processes)
            stack.push_async_callback(limits.close)
            start = starting_dialect(profile_path(settings.profiles_dir, name), name, backbone_settings)
            backbones[name] = Backbone(
                name, backbone_settings, transport, store, limits=limits, observer=observer, start=start
            )
        default_domain = _default_domain(settings, catalogue)
        personas = read_personas(settings.personas_dir)
        personas_for(catalogue.get(default_domain), personas)  # a bad one is told now, not in every answer
        yield Council(
            catalogue=catalogue,
            backbones=backbones,
            personas=personas,
            tables=tables,
            calibrations=Calibrations(settings.calibrations_dir, other_backbone=settings.calibration_any_backbone),
            simulated=frozenset(path.name for path in knowing_packs(catalogue)),
            default_domain=default_domain,
            quorum=settings.quorum,
            deadline_s=settings.deadline_s,
            whole_set=settings.whole_set,
            elicitation=settings.elicitation,
            redis=redis,
        )


def open_server(settings: Settings) -> RedisServer | None:
    """The Redis that the settings name, if they do. All that a process keeps there goes through one such object, so
    that an outage is met once."""
    return RedisServer(settings.redis_url.get_secret_value()) if settings.redis_url else None


def open_tables(settings: Settings, redis: RedisServer | None) -> Tables:
    """The elicitation tables: in Redis where it is named, else in an SQLite file."""
    return Tables(SqliteTables(settings.tables_file) if redis is None else RedisTables(redis))


def transport_for(settings: BackboneSettings, catalogue: Catalogue, wrap: Wrap = as_it_is) -> httpx.AsyncBaseTransport:
    """What carries the requests to one backbone, the stand-in in this process included; the caller closes it."""
    if settings.base_url == STAND_IN_URL:
        return wrap(httpx.ASGITransport(stand_in(catalogue)))
    return open_transport(settings)


def stand_in(catalogue: Catalogue, **options: Any) -> Starlette:
    """The stand-in LLM over every pack of the catalogue that has knowledge for it."""
    return create_simulator(knowing_packs(catalogue), **options)


def _default_domain(settings: Settings, catalogue: Catalogue) -> str:
    names = catalogue.names()
    if settings.domain is None:
        return names[0]
    if settings.domain not in names:
        raise BadInput.at("CROSSPATH_DOMAIN", f"no such domain; there are: {', '.join(names)}")
    return settings.domain

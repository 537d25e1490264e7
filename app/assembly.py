"""Puts a council together from the settings: catalogue, reply store, a client for each origin."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette

from agents.backbone import Backbone
from agents.endpoint import BackboneSettings, open_client
from agents.limits import open_limits
from agents.personas import personas_for
from agents.replies import ReplyStore, open_replies
from app.calibrations import Calibrations
from app.inquiry import Council, read_personas
from app.settings import STAND_IN_URL, Settings
from domains.catalogue import Catalogue
from domains.errors import BadInput
from simulator.server import create_simulator
from simulator.stand_in import knowing_packs

Wrap = Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]


@asynccontextmanager
async def open_council(settings: Settings, stand_in_transport: Wrap = lambda inner: inner) -> AsyncIterator[Council]:
    """The council for the life of a process; its clients and stores close with it.

    `stand_in_transport` may put another transport before that of the stand-in in this process.

    Raises:
        BadInput: a setting that cannot be used.
    """
    catalogue = Catalogue(settings.domains_dir)
    async with AsyncExitStack() as stack:
        store = open_store(settings)
        stack.push_async_callback(store.close)
        declared = settings.declared_backbones()
        backbones: dict[str, Backbone] = {}
        for name, backbone_settings in declared.items():
            client = await stack.enter_async_context(_client(backbone_settings, catalogue, stand_in_transport))
            limits = open_limits(name, backbone_settings, _redis_url(settings))
            stack.push_async_callback(limits.close)
            backbones[name] = Backbone(name, backbone_settings, client, store, limits=limits)
        default_domain = _default_domain(settings, catalogue)
        personas = read_personas(settings.personas_dir)
        personas_for(catalogue.get(default_domain), personas)  # a bad one is told now, not in every answer
        yield Council(
            catalogue=catalogue,
            backbones=backbones,
            personas=personas,
            calibrations=Calibrations(settings.calibrations_dir, other_backbone=settings.calibration_any_backbone),
            simulated=frozenset(path.name for path in knowing_packs(catalogue)),
            default_domain=default_domain,
            quorum=settings.quorum,
            deadline_s=settings.deadline_s,
            whole_set=settings.whole_set,
        )


def open_store(settings: Settings) -> ReplyStore:
    """The reply store the settings ask for: Redis where it is named, else SQLite; 0 days is memory only."""
    return open_replies(settings.replies, settings.replies_file, _redis_url(settings))


def _redis_url(settings: Settings) -> str | None:
    return settings.redis_url.get_secret_value() if settings.redis_url else None


def _client(settings: BackboneSettings, catalogue: Catalogue, wrap: Wrap) -> httpx.AsyncClient:
    if settings.base_url == STAND_IN_URL:
        return httpx.AsyncClient(transport=wrap(httpx.ASGITransport(stand_in(catalogue))))
    return open_client(settings)


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

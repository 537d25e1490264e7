"""The first to see a request: whether it may come in at all, and who sent it. Pure ASGI, so that a client that goes
away is still seen by the routes behind it."""

from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from app.access import origins
from app.access.caller import CALLER, EVERYBODY, Caller
from app.access.headers import header
from app.access.keys import Keyring
from app.access.paths import scope_for
from app.problems import Refused, for_error

REALM = 'Bearer realm="crosspath"'


@dataclass(frozen=True, slots=True)
class Rules:
    """Which keys are accepted, by what names the service goes (empty: see `origins`), and whether it may be reached
    from outside although no key is asked for."""

    keys: Keyring
    hosts: tuple[str, ...] = ()
    allow_open: bool = False

    def caller(self, scope: Scope) -> Caller | None:
        """Who sent a request; None on an open path without a key.

        Raises:
            Refused: 401 or 403.
        """
        self._check_address(scope)
        self._check_origin(scope)
        if not self.keys:
            return EVERYBODY
        needed = scope_for(scope["path"])
        if needed is None:
            return None
        caller = self._presented(header(scope, b"authorization") or "")
        if needed not in caller.scopes:
            challenge = f'{REALM}, error="insufficient_scope", scope="{needed}"'
            raise Refused(403, f"this key has not the scope `{needed}`", {"WWW-Authenticate": challenge})
        return caller

    def _check_address(self, scope: Scope) -> None:
        server = scope["server"][0] if scope.get("server") else None
        if not self.keys and not self.allow_open and not origins.is_local(server):
            raise Refused(
                403,
                "no key is asked for here, so requests from outside are refused (CROSSPATH_API_KEYS, docs/security.md)",
            )
        if self.keys and not self.hosts:
            return
        named = [str(value, "latin-1") for name, value in scope["headers"] if name == b"host"]
        if not origins.host_allowed(named, server, self.hosts):
            raise Refused(403, "the Host header names another service (CROSSPATH_ALLOWED_HOSTS lists this one's names)")

    def _check_origin(self, scope: Scope) -> None:
        if scope["method"] in origins.SAFE_METHODS:
            return
        origin, fetch_site = header(scope, b"origin"), header(scope, b"sec-fetch-site")
        if not origins.same_origin(origin, fetch_site, header(scope, b"host") or ""):
            raise Refused(403, "a web page of another origin must not ask this of the service")

    def _presented(self, authorization: str) -> Caller:
        kind, _, key = authorization.partition(" ")
        if kind.lower() != "bearer" or not key.strip():
            raise Refused(401, "send a key as `Authorization: Bearer KEY`", {"WWW-Authenticate": REALM})
        caller = self.keys.find(key.strip())
        if caller is None:
            challenge = f'{REALM}, error="invalid_token"'
            raise Refused(401, "this key is not accepted", {"WWW-Authenticate": challenge})
        return caller


class Guard:
    """ASGI middleware: lets in what the rules let in, and leaves the caller in the scope."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            caller = self._rules.caller(scope)
        except Refused as refusal:
            await for_error(refusal)(scope, receive, send)
            return
        if caller is not None:
            scope[CALLER] = caller
        await self._app(scope, receive, send)

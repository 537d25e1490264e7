"""Errors as RFC 9457 problem bodies: one table from what went wrong to a status code.

No body repeats what the caller sent: a field's path keeps the names of our own members, and the places in lists.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType

import orjson
from fastapi import Response
from pydantic import ValidationError

from app.schemas.common import Body
from domains.errors import BadInput, Fault, NoQuorum, NotFound

MEDIA_TYPE = "application/problem+json"

TITLES = {
    400: "Not readable",
    401: "No key",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Not possible now",
    413: "Too large",
    415: "Unsupported content type",
    422: "Not usable",
    429: "Too much",
    500: "A fault of the service",
    503: "No decision",
}

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,31}|\d+")


class Refused(Exception):
    """A request that is refused before its content is looked at."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


def problem(
    status: int,
    detail: str,
    faults: Sequence[Fault] = (),
    headers: Mapping[str, str] | None = None,
    members: Mapping[str, object] = MappingProxyType({}),
) -> Response:
    """A problem answer; `members` are added beside the standard ones."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    if faults:
        body["errors"] = [{"field": fault.where, "message": fault.problem} for fault in faults]
    return Response(orjson.dumps(body | dict(members)), status, dict(headers or {}), MEDIA_TYPE)


def for_error(error: BadInput | NoQuorum | Refused) -> Response:
    """The answer to an error of our own."""
    match error:
        case NotFound():
            return problem(422, "something is asked for by a name that does not exist", error.faults)
        case BadInput():
            return problem(422, "the content cannot be used", error.faults)
        case NoQuorum():
            return problem(503, str(error))
        case Refused():
            return problem(error.status, error.detail, headers=error.headers)


def validation_faults(error: ValidationError) -> list[Fault]:
    """What pydantic found wrong, without any of the input."""
    return [
        Fault(
            member_path(detail["loc"]),
            _unknown(detail["loc"]) if detail["type"] == "extra_forbidden" else detail["msg"],
        )
        for detail in error.errors(include_input=False, include_context=False, include_url=False)
    ]


def _unknown(location: Sequence[str | int]) -> str:
    near = get_close_matches(str(location[-1]), _members(Body), n=1, cutoff=0.75)
    return "a member of this name is not known" + (f"; is {near[0]} meant?" if near else "")


def member_path(location: Sequence[str | int]) -> str:
    """`case.evidence.3.id` from a location in a body. A member that no body of ours has becomes `?`, whatever it looks
    like: somebody's name or date of birth may have been written where a member's name belongs."""
    ours = _members(Body)
    return ".".join(str(part) if isinstance(part, int) or part in ours else "?" for part in location)


def parameter_path(location: Sequence[str | int]) -> str:
    """The name of a parameter of the path, the query or the headers; these are declared, and so are ours."""
    parts = [str(part) for part in location]
    return ".".join(part if _NAME.fullmatch(part) else "?" for part in parts)


def _members(body: type[Body]) -> frozenset[str]:
    """What the members of every kind of body are called."""
    return frozenset(body.model_fields).union(*map(_members, body.__subclasses__()))

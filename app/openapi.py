"""The OpenAPI document: bodies that are read by hand are described here, with examples that work when pasted."""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.access.paths import scope_for
from app.idempotency.openapi import describe_idempotency
from app.inquiry import Council
from app.jobs.openapi import as_batch, describe_batch
from app.jobs.schemas import BatchBody, Job
from app.routes.catalogue import examples
from app.schemas.aggregate import AggregateAnswer, AggregateBody
from app.schemas.common import Problem
from app.schemas.decide import DecideBody, Decision

_REF = "#/components/schemas/{model}"

DECIDE_EXAMPLES: dict[str, dict[str, Any]] = {
    "labels of your own": {
        "summary": "An ad-hoc closed set of labels (needs a real language model; the stand-in answers 422)",
        "value": {
            "labels": ["Flat battery", "Blocked fuel line", "Faulty starter"],
            "case": {"evidence": [{"id": "clicks", "text": "The starter clicks but does not turn"}]},
        },
    },
}

AGGREGATE_EXAMPLES: dict[str, dict[str, Any]] = {
    "two agents and an anchor": {
        "value": {
            "labels": ["A", "B", "C"],
            "cases": [
                {"id": "1", "posteriors": [{"A": 0.7, "B": 0.3}, {"B": 1.0}], "anchor": {"B": 0.6, "C": 0.4}},
            ],
            "aggregators": ["minjs", "fwdjs", "loglin", "plurality", "range"],
            "params": {"tau": 5.0, "w_r": 0.2},
        },
    },
}

_BODIES: dict[str, tuple[type[BaseModel], type[BaseModel], dict[str, dict[str, Any]]]] = {
    "/decide": (DecideBody, Decision, DECIDE_EXAMPLES),
    "/aggregate": (AggregateBody, AggregateAnswer, AGGREGATE_EXAMPLES),
    "/batch": (BatchBody, Job, {}),
}
_DECISION_EVENTS = (
    "`agent` for each as it answers (an entry of `agents`), `anchor` (that member), and at the end `decision` (the "
    "whole answer) or `problem` (what would have been the error answer)"
)
_WITH_BODY = {
    400: "Not JSON, not UTF-8, NaN, or broken off",
    408: "The body came too slowly",
    413: "Too large",
    415: "Another content type",
    422: "Content that cannot be used; `errors` names each field",
    429: "More than this caller may ask for; `Retry-After` says when to come back",
    503: "No decision, no room (`Retry-After`), or the service stops",
}
"""What else a request with a body may be answered."""


def describe(app: FastAPI) -> None:
    """Give the app an OpenAPI document that knows the bodies read by hand, and every error answer."""
    framework_document = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(framework_document(), app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # the documented way to extend it


def _completed(document: dict[str, Any], app: FastAPI) -> dict[str, Any]:
    council: Council | None = None if app.state.settings.api_keys else getattr(app.state, "council", None)
    inputs = [(body, "validation") for body, _, _ in _BODIES.values()]
    outputs = [(answer, "serialization") for _, answer, _ in _BODIES.values()]
    _, definitions = models_json_schema(
        [*inputs, *outputs, (Problem, "serialization")],  # type: ignore[list-item]
        ref_template=_REF,
    )
    document.setdefault("components", {}).setdefault("schemas", {}).update(definitions["$defs"])
    for path, (body, answer, fixed) in _BODIES.items():
        operation = document["paths"][path]["post"]
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _schema(body), "examples": examples_of(council, path, fixed)}},
        }
        success = next(iter(operation["responses"]))
        operation["responses"] = {
            success: {"description": "The answer", "content": {"application/json": {"schema": _schema(answer)}}},
        }
    document["paths"]["/decide"]["post"]["responses"]["200"]["content"]["text/event-stream"] = {
        "schema": {"type": "string", "description": _DECISION_EVENTS}
    }
    _describe_refusals(document)
    describe_batch(document, council)
    describe_idempotency(document)
    return document


def examples_of(council: Council | None, path: str, fixed: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The examples of a path; `/decide` and `/batch` get one from each domain that has any, unless keys are asked for:
    what is in the packs is not for everybody then, and this document is."""
    if path == "/aggregate" or council is None:
        return fixed
    from_packs: dict[str, dict[str, Any]] = {}
    for domain in council.catalogue.sound():
        if domain.exemplars:
            example = examples(domain, [domain.exemplars[0].case])[0]
            from_packs[domain.title] = {"value": as_batch(example) if path == "/batch" else example}
    return from_packs | fixed


def _schema(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}


def _problem_response(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/problem+json": {"schema": _schema(Problem)}}}


def _describe_refusals(document: dict[str, Any]) -> None:
    """Every operation gets the answers that stand before it: key, scope, host, and what may be wrong with a request.
    The framework documents a 422 body of its own, which this service never sends."""
    document["components"]["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "Needed where the operator has set keys"}
    }
    for path, operations in document["paths"].items():
        for operation in operations.values():
            responses = operation["responses"]
            if "application/json" in responses.get("422", {}).get("content", {}):
                del responses["422"]
            for code, description in _refusals(path, operation).items():
                responses.setdefault(str(code), _problem_response(description))
            operation["responses"] = dict(sorted(responses.items()))
            if scope_for(path) is not None:
                operation["security"] = [{"key": []}, {}]
    for unused in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(unused, None)


def _refusals(path: str, operation: dict[str, Any]) -> dict[int, str]:
    refusals = {403: "Not with this key, or not from this host or page"}
    if scope_for(path) is not None:
        refusals[401] = "No key, or one that is not accepted"
    if "requestBody" in operation:
        refusals |= _WITH_BODY
    if any(parameter["in"] in ("query", "header") for parameter in operation.get("parameters", ())):
        refusals[422] = _WITH_BODY[422]
    if "{" in path:
        refusals[404] = "Unknown, or another caller's"
    if path in ("/decisions/{decision_id}", "/health/ready"):
        refusals[503] = "Not now; `detail` says why"
    return refusals

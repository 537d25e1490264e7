"""The OpenAPI document: bodies that are read by hand are described here, with examples that work when pasted."""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

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

_BODIES: dict[str, tuple[type[BaseModel], type[BaseModel], dict[str, dict[str, Any]], tuple[int, ...]]] = {
    "/decide": (DecideBody, Decision, DECIDE_EXAMPLES, (400, 413, 415, 422, 503)),
    "/aggregate": (AggregateBody, AggregateAnswer, AGGREGATE_EXAMPLES, (400, 413, 415, 422)),
    "/batch": (BatchBody, Job, {}, (400, 413, 415, 422, 503)),
}


def describe(app: FastAPI) -> None:
    """Give the app an OpenAPI document that knows the bodies read by hand, and every error answer."""
    framework_document = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(framework_document(), app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # the documented way to extend it


def _completed(document: dict[str, Any], app: FastAPI) -> dict[str, Any]:
    inputs = [(body, "validation") for body, _, _, _ in _BODIES.values()]
    outputs = [(answer, "serialization") for _, answer, _, _ in _BODIES.values()]
    _, definitions = models_json_schema(
        [*inputs, *outputs, (Problem, "serialization")],  # type: ignore[list-item]
        ref_template=_REF,
    )
    document.setdefault("components", {}).setdefault("schemas", {}).update(definitions["$defs"])
    for path, (body, answer, fixed, codes) in _BODIES.items():
        operation = document["paths"][path]["post"]
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _schema(body), "examples": examples_of(app, path, fixed)}},
        }
        success = next(iter(operation["responses"]))
        operation["responses"] = {
            success: {"description": "The answer", "content": {"application/json": {"schema": _schema(answer)}}},
            **{str(code): _problem_response() for code in codes},
        }
    describe_batch(document, getattr(app.state, "council", None))
    _replace_framework_errors(document)
    return document


def examples_of(app: FastAPI, path: str, fixed: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The examples of a path; `/decide` and `/batch` get one from each domain that has any."""
    council: Council | None = getattr(app.state, "council", None)
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


def _problem_response() -> dict[str, Any]:
    return {
        "description": "A problem (RFC 9457)",
        "content": {"application/problem+json": {"schema": _schema(Problem)}},
    }


def _replace_framework_errors(document: dict[str, Any]) -> None:
    """The framework documents its own 422 body, which this service never sends."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if "application/json" in operation["responses"].get("422", {}).get("content", {}):
                del operation["responses"]["422"]
                if any(parameter["in"] == "query" for parameter in operation["parameters"]):
                    operation["responses"]["422"] = _problem_response()
            if "{" in path:
                operation["responses"]["404"] = _problem_response()
    for unused in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(unused, None)

"""What the OpenAPI document says of the batch routes that their signatures do not."""

import json
from typing import Any

from agents.purse import MOST_USD
from app.inquiry import Council
from app.jobs.intake import NDJSON
from app.routes.catalogue import examples

_PROBLEM = "#/components/schemas/Problem"
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"type": "string", "enum": ["progress", "end"]},
        "data": {"type": "string", "description": "The job, as JSON"},
        "id": {"type": "string"},
    },
    "required": ["event", "data", "id"],
}
_LIST = {"type": "array", "items": {"type": "string"}}

QUERY: dict[str, tuple[dict[str, Any], str]] = {
    "domain": ({"type": "string"}, "the default domain unless named"),
    "aggregators": (_LIST, "repeated or comma-separated; all unless named"),
    "anchor": ({"type": "string", "default": "reverse"}, "`null` for none"),
    "backbone": ({"type": "string", "default": "default"}, ""),
    "agents": (_LIST, "repeated or comma-separated; five unless named"),
    "budget_usd": ({"type": "number", "exclusiveMinimum": 0, "maximum": MOST_USD}, "what the job may spend at most"),
    "tau": ({"type": "number", "minimum": 0, "default": 5.0}, ""),
    "w_r": ({"type": "number", "minimum": 0, "maximum": 1, "default": 0.2}, ""),
    "skip_unanimous": ({"type": "boolean", "default": False}, "judges are not asked where the agents agree"),
    "elicitation": (
        {"type": "string", "enum": ["per_case", "table"], "default": "per_case"},
        "`table` is the elicitation table as it is when the job begins",
    ),
}
"""The options of an upload."""


def as_batch(decide: dict[str, Any]) -> dict[str, Any]:
    """An example of `POST /decide` as one of `POST /batch`."""
    return {"domain": decide["domain"], "cases": [decide["case"]], "aggregators": ["loglin", "range"]}


def describe_batch(document: dict[str, Any], council: Council | None) -> None:
    """Describe the upload, the streams and the answers that are no JSON."""
    create = document["paths"]["/batch"]["post"]
    create["parameters"] = [
        {
            "name": name,
            "in": "query",
            "required": False,
            "schema": schema,
            "description": " ".join(part for part in ("With NDJSON only.", description) if part),
        }
        for name, (schema, description) in QUERY.items()
    ]
    create["requestBody"]["content"][NDJSON] = {
        "schema": {"type": "string", "description": "One case a line, as in `cases`; `gold` is optional"},
        "examples": _lines(council),
    }
    create["responses"]["202"]["headers"] = {
        "Location": {"schema": {"type": "string"}, "description": "The job's address"}
    }
    one = document["paths"]
    one["/batch/{job_id}/results"]["get"]["responses"]["200"]["content"] = {NDJSON: {"schema": {"type": "string"}}}
    one["/batch/{job_id}/events"]["get"]["responses"] |= {
        "200": {
            "description": "`progress` and `end` events; the data of each is the job",
            "content": {"text/event-stream": {"schema": _EVENT}},
        },
        "204": {"description": "The client has seen the end"},
    }
    one["/batch/{job_id}/report"]["get"]["responses"]["409"] = {
        "description": "No result has a gold label",
        "content": {"application/problem+json": {"schema": {"$ref": _PROBLEM}}},
    }


def _lines(council: Council | None) -> dict[str, Any]:
    """Cases of the default domain, so that the example works without a parameter."""
    if council is None:
        return {}
    domain = council.catalogue.get(council.default_domain)
    cases = [example["case"] for example in examples(domain, [e.case for e in domain.exemplars[:2]])]
    return {domain.title: {"value": "".join(f"{json.dumps(case)}\n" for case in cases)}} if cases else {}

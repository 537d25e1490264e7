"""`GET /docs`: the interface as a page to read. No script, and nothing is fetched from anywhere."""

import base64
import hashlib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.access.headers import PAGE_POLICY

router = APIRouter()

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "pre{overflow-x:auto;padding:.7rem;border:1px solid #8886}table{border-collapse:collapse;margin:1rem 0}"
    "th,td{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}summary{cursor:pointer;padding:.2rem 0}"
    "details details{margin-left:1rem}.text{white-space:pre-wrap}small,i{opacity:.7}"
)
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = PAGE_POLICY.replace("style-src 'self'", f"style-src 'sha256-{_HASH}'").replace("script-src 'self'; ", "")
"""This page's own style is let through by its hash, and no script at all."""

_PAGES = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined)


@router.get("/docs", include_in_schema=False)
async def show_docs(request: Request) -> HTMLResponse:
    """Every operation with its parameters, examples to paste, and answers."""
    document: dict[str, Any] = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation["tags"][0], []).append(_shown(method.upper(), path, operation))
    page = _PAGES.get_template("docs.html").render(
        info=document["info"],
        style=STYLE,
        groups=groups,
        schemas={name: _pretty(schema) for name, schema in document["components"]["schemas"].items()},
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})


def _shown(method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {})
    schemas = {f"body: {kind}": _pretty(content["schema"]) for kind, content in body.items()}
    for code, answer in operation["responses"].items():
        if code.startswith("2"):
            schemas |= {
                f"{code}: {kind}": _pretty(c.get("schema", {})) for kind, c in answer.get("content", {}).items()
            }
    return {
        "id": operation["operationId"],
        "method": method,
        "path": path,
        "summary": operation["summary"],
        "description": operation.get("description", ""),
        "locked": "security" in operation,
        "parameters": [{"description": "", **parameter} for parameter in operation.get("parameters", ())],
        "examples": list(_examples(path, body)),
        "schemas": schemas,
        "answers": {code: answer["description"] for code, answer in sorted(operation["responses"].items())},
    }


def _examples(path: str, body: dict[str, Any]) -> Iterator[dict[str, str]]:
    for kind, content in body.items():
        for title, example in content.get("examples", {}).items():
            value = example["value"]
            text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
            header = shlex.quote(f"content-type: {kind}")
            command = f"curl -s localhost:8000{path} -H {header} --data-binary {shlex.quote(text)}"
            yield {"title": example.get("summary", title), "command": command}


def _pretty(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False)

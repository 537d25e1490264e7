"""R30: addresses inside everything a caller can send: does the service ever go and fetch one?

The service runs in this process on a loopback port before a model server on another, and every attempt to connect or
to look up a name is caught at the interpreter's own audit events. The client speaks from a process of its own.
"""

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from app.logs import configure_logs
from app.main import create_app
from app.settings import load_settings
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel, serving
from domains.catalogue import Catalogue

UNTIMED = True

CANARY = "127.0.0.1:9"
"""Where most forms lead; nobody listens, and connecting is what counts."""

FORMS: tuple[str, ...] = (
    *(f"{scheme}://{CANARY}/x" for scheme in ("http", "https", "ftp", "gopher", "dict", "ldap", "tftp", "sftp", "ws")),
    *("file:///etc/passwd", "file://localhost/etc/passwd", "jar:http://127.0.0.1:9!/x", "netdoc:///etc/passwd"),
    *("//127.0.0.1:9/x", "///127.0.0.1:9/x", "\\\\127.0.0.1:9\\x", "/\\127.0.0.1:9/x", "http:127.0.0.1:9/x"),
    *("http:/127.0.0.1:9/x", "HTTP://127.0.0.1:9/x", "hTtP://127.0.0.1:9/x", " http://127.0.0.1:9/x"),
    *("http://127.1:9/x", "http://2130706433:9/x", "http://0x7f000001:9/x", "http://0177.0.0.1:9/x", "http://0:9/x"),
    *("http://[::1]:9/x", "http://[::ffff:127.0.0.1]:9/x", "http://[0:0:0:0:0:ffff:7f00:1]:9/x", "http://[::]:9/x"),
    *("http://localhost:9/x", "http://LOCALHOST:9/x", "http://localhost.:9/x", "http://127.0.0.1.nip.io:9/x"),
    *("http://user:pass@127.0.0.1:9/x", "http://good.example@127.0.0.1:9/x", "http://127.0.0.1:9#@good.example/"),
    *("http://127.0.0.1:9?@good.example/", "http://good.example%40127.0.0.1:9/x", "http://127.0.0.1%00.example:9/x"),
    *("http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/latest/meta-data/", "http://2852039166/"),
    *(
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://169.254.169.254.nip.io/",
        "http://100.100.100.200/",
    ),
    *("http://10.0.0.1/", "http://192.168.0.1/", "http://172.16.0.1/", "http://０x7f.1:9/x", "http://①②⑦.⓪.⓪.①:9/x"),
    *(
        "http://xn--nxasmq6b.invalid/",
        "http://ⓔⓧⓐⓜⓟⓛⓔ.com/",
        "http://127。0。0。1:9/x",
        "http://127.0.0.1:9\r\nHost: x",
    ),
    *("{{7*7}}http://127.0.0.1:9/x", "${jndi:ldap://127.0.0.1:9/x}", "<img src=http://127.0.0.1:9/x>"),
    *('<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]>', "redis://127.0.0.1:9/0", "data:text/plain,x"),
    *("unix:///tmp/x.sock", "http+unix://%2Ftmp%2Fx.sock/x", "../../../etc/passwd", "@127.0.0.1:9"),
)
NAMES = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request")


class Watch:
    """Addresses that this process wanted to reach, but for the model server it was declared."""

    def __init__(self) -> None:
        self.armed = False
        self.declared = 0
        self.met: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed or event not in NAMES:
            return
        target = arguments[1] if event == "socket.connect" else arguments[:2]
        if target != ("127.0.0.1", self.declared):
            self.met.append(f"{event} {target}")

    @contextmanager
    def armed_for(self, port: int) -> Iterator[None]:
        """Watch until the block ends; connections to this loopback port are the declared ones."""
        self.declared, self.armed = port, True
        try:
            yield
        finally:
            self.armed = False


def measure() -> list[Figure]:
    """How many requests left, and how many were sent in."""
    sent, met = exercise(FORMS)
    return [
        Figure("R30 URL forms", "≥ 60", str(len(set(FORMS))), len(set(FORMS)) >= 60),
        Figure(f"R30 requests that left, of {sent:,} sent in", "0", "; ".join(sorted(set(met))) or "0", not met),
    ]


def exercise(forms: Sequence[str]) -> tuple[int, list[str]]:
    """Send every form through every input; how many requests that made, and every attempt to reach something."""
    with serving() as model:
        return asyncio.run(_exercise(forms, model))


async def _exercise(forms: Sequence[str], model: InstantModel) -> tuple[int, list[str]]:
    configure_logs("error")
    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="crosspath-r30-") as folder:
        settings = load_settings(
            data_dir=Path(folder), replies=0, log_level="error", llm_base_url=model.base_url, llm_model="m"
        )
        server = uvicorn.Server(uvicorn.Config(create_app(settings), log_level="error", access_log=False))
        listening = socket.create_server(("127.0.0.1", 0))  # whoever connects waits until it is ready
        running = asyncio.create_task(server.serve([listening]))
        with watch.armed_for(model.port):
            sent = await _send_all(forms, listening.getsockname()[1])
        server.should_exit = True
        await running
    if not model.requests:
        raise RuntimeError("not even the declared model server was asked: nothing was watched")
    return sent, watch.met


async def _send_all(forms: Sequence[str], port: int) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "benchmarks.chaos.r30_ssrf", str(port)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    told, _ = await process.communicate(json.dumps(forms).encode())
    if process.returncode:
        raise RuntimeError("the client failed")
    return int(told)


def requests_with(form: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every input that could carry an address: members that the schemas know, members that they do not, names,
    texts, paths, queries and headers."""
    catalogue = Catalogue()
    domain = catalogue.get(catalogue.names()[0])
    evidence = [{"id": domain.exemplars[0].case.evidence[0].finding.id}]
    case = {"evidence": evidence}
    for name in ("base_url", "url", "endpoint", "callback", "webhook", "model", "api_key", "proxy", "schema", "$ref"):
        yield "POST", "/decide", {"json": {"case": case, name: form}}
        yield "POST", "/batch", {"json": {"cases": [case], name: form}}
        yield "POST", "/aggregate", {"json": {"labels": ["a"], "cases": [{"posteriors": [{"a": 1}]}], name: form}}
    for name in ("domain", "backbone", "aggregator", "anchor"):
        yield "POST", "/decide", {"json": {"case": case, name: form}}
        yield "POST", "/batch", {"json": {"cases": [case], name: form}}
    for value in (f"cot@{form}", form):
        yield "POST", "/decide", {"json": {"case": case, "agents": [value]}}
        yield "POST", "/batch", {"params": {"agents": value}, **_lines(case)}
    yield "POST", "/decide", {"json": {"case": case, "anchor": f"calibrated:{form}"}}
    yield "POST", "/decide", {"json": {"case": case, "compare": [form]}}
    yield "POST", "/decide", {"json": {"case": {"id": form, "evidence": [*evidence, {"id": form, "text": form}]}}}
    yield (
        "POST",
        "/decide",
        {"json": {"case": {"evidence": [{"id": "a", "text": f"see {form}"}]}, "labels": [form, "b"]}},
    )
    yield "POST", "/aggregate", {"json": {"labels": [form], "cases": [{"id": form, "posteriors": [{form: 1}]}]}}
    yield "POST", "/batch", {"json": {"dataset": form}}
    yield "POST", "/batch", {"json": {"cases": [{"id": form, **case}], "params": {"elicitation": form}}}
    for name in ("domain", "backbone", "anchor", "dataset", "base_url"):
        yield "POST", "/batch", {"params": {name: form}, **_lines(case)}
    for path in ("/domains/", "/batch/", "/decisions/", "/"):
        yield "GET", path + httpx.QueryParams({"": form}).__str__().removeprefix("="), {}
    for name in ("Referer", "Origin", "X-Forwarded-Host", "X-Forwarded-For", "Forwarded", "X-Original-URL", "Via"):
        yield "GET", "/domains", {"headers": {name: _header(form)}}
    for name in ("Idempotency-Key", "X-Request-ID", "Authorization", "Last-Event-ID", "Callback-URL"):
        yield "POST", "/decide", {"json": {"case": case}, "headers": {name: _header(form)}}
    yield "GET", "/domains", {"headers": {"Host": _header(form)}}
    yield "GET", "/docs", {"params": {"url": form, "configUrl": form}}


def _lines(case: dict[str, Any]) -> dict[str, Any]:
    return {"content": json.dumps(case) + "\n", "headers": {"Content-Type": "application/x-ndjson"}}


def _header(form: str) -> bytes:
    return form.replace("\r", "").replace("\n", "").strip().encode()


def main(port: int) -> None:
    """The client's process: send every form read from stdin through every input; tell how many requests that was."""
    sent = 0
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60, follow_redirects=False
    ) as client:
        for form in json.load(sys.stdin):
            for method, path, parts in requests_with(form):
                status = client.request(method, path, **parts).status_code
                if status >= 500 and status != 503:
                    raise RuntimeError(f"{method} {path.partition('/')[0]} answered {status}")
                sent += 1
    print(sent)


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""The downloader against a local server that answers like the article's host, on a real socket."""

import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from json import dumps
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from app.official_data import ENGLISH_ARTICLE, NEEDED, FetchFailed, fetch_official
from domains.catalogue import check_domain
from domains.errors import BadInput
from tests.domains.ddxplus.tiny_release import CONDITIONS, EVIDENCES, patient, patients

TRAIN = patients(
    patient(30, "F", "Influenza", ("E_91",)),
    patient(30, "F", "Larygospasm", ("E_194",)),
    patient(30, "F", "Guillain-Barré syndrome", ("E_84",)),
)


def zipped(name: str, text: str) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, text)
    return content.getvalue()


@dataclass
class Host:
    """What the server holds, and how it misbehaves: files by name, changes to the list, bytes held back."""

    files: dict[str, bytes]
    listed: dict[str, dict[str, Any]] = field(default_factory=dict)
    article: bytes | None = None
    status: dict[str, int] = field(default_factory=dict)
    held_back: dict[str, int] = field(default_factory=dict)
    endless_redirects: bool = False
    drips: bool = False
    closing: Event = field(default_factory=Event)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def article_body(self) -> bytes:
        if self.article is not None:
            return self.article
        entries = [
            {
                "name": name,
                "size": len(content),
                "download_url": f"{self.url}/files/{name}",
                "computed_md5": hashlib.md5(content).hexdigest(),
                "supplied_md5": "",
                **self.listed.get(name, {}),
            }
            for name, content in self.files.items()
        ]
        return dumps({"id": ENGLISH_ARTICLE, "files": entries}).encode()


def handler(host: Host) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.asked.append(self.path)
            _, kind, name = self.path.split("/")
            if kind == "articles":
                self.answer(200 if name == str(ENGLISH_ARTICLE) else 404, host.article_body())
            elif kind == "files":  # the real host redirects downloads to its store
                self.send_response(302)
                self.send_header("Location", f"/{'files' if host.endless_redirects else 'store'}/{name}")
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                self.answer(host.status.get(name, 200), host.files[name], host.held_back.get(name, 0))

        def answer(self, status: int, body: bytes, held_back: int = 0) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if host.drips:
                for place in range(len(body)):
                    self.wfile.write(body[place : place + 1])
                    if host.closing.wait(0.01):
                        return
            self.wfile.write(body[: len(body) - held_back])

        def log_message(self, format: str, *args: object) -> None:
            """Tests print nothing."""

    return Handler


@contextmanager
def serving(host: Host) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler(host)) as server:
        host.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"{host.url}/articles"
        finally:
            host.closing.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def host() -> Host:
    return Host(
        {
            "release_conditions.json": dumps(CONDITIONS).encode(),
            "release_evidences.json": dumps(EVIDENCES).encode(),
            "release_test_patients.zip": zipped("release_test_patients.csv", patients()),
            "release_train_patients.zip": zipped("release_train_patients.csv", TRAIN),
            "release_validate_patients.zip": b"not needed",
        }
    )


@pytest.fixture
def articles_url(host: Host) -> Iterator[str]:
    with serving(host) as url:
        yield url


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def refused(articles_url: str, out: Path) -> str:
    """The message with which the fetch fails; nothing is left behind."""
    with pytest.raises(FetchFailed) as caught:
        await fetch_official(out, articles_url)
    assert left_in(out) == []
    return str(caught.value)


async def test_the_release_becomes_a_sound_pack_of_official_bytes(articles_url: str, tmp_path: Path) -> None:
    conversion = await fetch_official(tmp_path, articles_url)
    assert conversion.official
    assert conversion.total == 4
    assert conversion.knowledge == "counted from release_train_patients.zip (3 patients)"
    assert check_domain(tmp_path / "ddxplus") == []


async def test_only_what_is_needed_is_downloaded_and_none_of_it_kept(
    host: Host, articles_url: str, tmp_path: Path
) -> None:
    await fetch_official(tmp_path, articles_url)
    stored = [path.removeprefix("/store/") for path in host.asked if path.startswith("/store/")]
    assert stored == list(NEEDED)
    assert left_in(tmp_path) == ["ddxplus"]


async def test_the_supplied_sum_counts_where_none_was_computed(host: Host, articles_url: str, tmp_path: Path) -> None:
    name = "release_conditions.json"
    host.listed[name] = {"computed_md5": "", "supplied_md5": hashlib.md5(host.files[name]).hexdigest().upper()}
    assert (await fetch_official(tmp_path, articles_url)).official


async def test_another_sum_is_refused(host: Host, articles_url: str, tmp_path: Path) -> None:
    host.listed["release_test_patients.zip"] = {"computed_md5": "0" * 32}
    message = await refused(articles_url, tmp_path)
    assert message == "release_test_patients.zip: its MD5 sum is not the listed one; nothing was kept"


async def test_a_file_that_is_not_listed_is_named(host: Host, articles_url: str, tmp_path: Path) -> None:
    del host.files["release_evidences.json"]
    assert await refused(articles_url, tmp_path) == "the article does not list release_evidences.json"


async def test_a_file_that_is_listed_but_not_there_is_named(host: Host, articles_url: str, tmp_path: Path) -> None:
    host.status["release_evidences.json"] = 404
    message = await refused(articles_url, tmp_path)
    assert message == "release_evidences.json: the server answered with status 404"


async def test_an_article_that_is_not_there_is_named(articles_url: str, tmp_path: Path) -> None:
    message = await refused(articles_url.replace("articles", "store/none"), tmp_path)
    assert message.startswith("the article's file list: ")


async def test_a_body_that_is_cut_off_is_refused(host: Host, articles_url: str, tmp_path: Path) -> None:
    host.held_back["release_test_patients.zip"] = 20
    message = await refused(articles_url, tmp_path)
    assert message.startswith("release_test_patients.zip: the connection failed")


async def test_a_shorter_file_than_listed_is_refused(host: Host, articles_url: str, tmp_path: Path) -> None:
    size = len(host.files["release_test_patients.zip"])
    host.listed["release_test_patients.zip"] = {"size": size + 1}
    message = await refused(articles_url, tmp_path)
    assert message == f"release_test_patients.zip: cut off after {size} of {size + 1} bytes"


async def test_a_longer_file_than_listed_is_refused(host: Host, articles_url: str, tmp_path: Path) -> None:
    host.listed["release_test_patients.zip"] = {"size": 10}
    message = await refused(articles_url, tmp_path)
    assert message == "release_test_patients.zip: longer than the 10 bytes that are listed"


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        ({"size": 0}, "the size that is listed is not between"),
        ({"size": 1 << 40}, "the size that is listed is not between"),
        ({"size": "20"}, "the size that is listed is not between"),
        ({"computed_md5": ""}, "no MD5 sum is listed"),
        ({"download_url": "file:///etc/hostname"}, "no proper address is listed"),
        ({"download_url": None}, "no proper address is listed"),
    ],
)
async def test_a_list_entry_that_cannot_be_used_is_named(
    host: Host, articles_url: str, tmp_path: Path, listed: dict[str, Any], problem: str
) -> None:
    host.listed["release_conditions.json"] = listed
    assert (await refused(articles_url, tmp_path)).startswith(f"release_conditions.json: {problem}")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"files": 3}', b'{"files": [3, {"name": ["x"]}]}'])
async def test_a_list_of_another_shape_is_refused(host: Host, articles_url: str, tmp_path: Path, body: bytes) -> None:
    host.article = body
    assert (await refused(articles_url, tmp_path)).startswith("the article")


async def test_a_list_without_end_is_refused(host: Host, articles_url: str, tmp_path: Path) -> None:
    host.article = bytes(5 << 20)
    assert await refused(articles_url, tmp_path) == "the article's file list is too long"


async def test_a_server_that_drips_does_not_outlive_the_deadline(host: Host, articles_url: str, tmp_path: Path) -> None:
    host.drips = True
    with pytest.raises(FetchFailed, match=r"not finished within 0\.2 s"):
        await fetch_official(tmp_path, articles_url, deadline_s=0.2)


async def test_redirects_in_a_circle_end(host: Host, articles_url: str, tmp_path: Path) -> None:
    host.endless_redirects = True
    message = await refused(articles_url, tmp_path)
    assert message == "release_conditions.json: the connection failed (TooManyRedirects)"


async def test_no_server_is_told_in_a_line(tmp_path: Path) -> None:
    with serving(Host({})) as url:
        gone = url
    assert await refused(gone, tmp_path) == "the article's file list: the connection failed (ConnectError)"


async def test_files_that_cannot_be_converted_leave_nothing(host: Host, articles_url: str, tmp_path: Path) -> None:
    host.files["release_conditions.json"] = b"no JSON"
    with pytest.raises(BadInput, match=r"release_conditions\.json:1: is not JSON"):
        await fetch_official(tmp_path, articles_url)
    assert left_in(tmp_path) == []


async def test_a_place_that_cannot_be_written_is_named(articles_url: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(FetchFailed, match="cannot be written"):
        await fetch_official(tmp_path / "taken", articles_url)

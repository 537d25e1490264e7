"""Fetches the official DDXPlus release from its figshare article and converts it.

The article's own file list says what there is and gives every file's MD5 sum; each file is checked while it streams
to the disk. A file that is cut off, too long or of another sum ends the whole with nothing kept.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx

from domains.ddxplus import CONDITIONS_FILE, EVIDENCES_FILE, Conversion, convert
from domains.errors import CrosspathError

ARTICLES_URL = "https://api.figshare.com/v2/articles"
ENGLISH_ARTICLE = 22687585
"""The release in English (the French one is article 20043374: other labels, other evidence codes)."""
NEEDED = (CONDITIONS_FILE, EVIDENCES_FILE, "release_test_patients.zip", "release_train_patients.zip")
"""The patients of the test split become the cases; those of the train split are counted for `knowledge.csv`."""
LONGEST_LIST = 4 << 20
LARGEST_FILE = 1 << 30
"""Bytes; a list or file that says or proves to be longer is refused."""
DEADLINE_S = 3600.0
IDLE_S = 30.0
"""A server may stay silent for this long; the deadline ends one that drips."""
MOST_REDIRECTS = 5

_MD5 = re.compile(r"[0-9a-f]{32}")


class FetchFailed(CrosspathError):
    """The official files could not be fetched, or are not what the article says."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One entry of the article's file list; `size` in bytes."""

    name: str
    size: int
    url: str
    md5: str


async def fetch_official(out: Path, articles_url: str = ARTICLES_URL, deadline_s: float = DEADLINE_S) -> Conversion:
    """Download the English release and write its pack to `out/ddxplus/`; the downloads are not kept.

    `deadline_s` bounds all the downloads together, in seconds.

    Raises:
        FetchFailed: the article or a file cannot be had, or a file is not the one that the article lists.
        BadInput: the files cannot be converted.
    """
    article_url = f"{articles_url}/{ENGLISH_ARTICLE}"
    try:
        await asyncio.to_thread(out.mkdir, parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".ddxplus-download-", dir=out) as folder:
            listed = await _download_all(article_url, Path(folder), deadline_s)
            sums = {file.name: file.md5 for file in listed}
            return await asyncio.to_thread(convert, Path(folder), out, sums)
    except OSError as error:
        raise FetchFailed(f"{out}: cannot be written ({error.strerror})") from None


async def _download_all(article_url: str, folder: Path, deadline_s: float) -> list[ListedFile]:
    client = httpx.AsyncClient(timeout=IDLE_S, max_redirects=MOST_REDIRECTS)
    try:
        async with asyncio.timeout(deadline_s), client:
            listed = await list_files(client, article_url)
            for file in listed:
                await download(client, file, folder / file.name)
    except TimeoutError:
        raise FetchFailed(f"the download was not finished within {deadline_s:g} s") from None
    return listed


async def list_files(client: httpx.AsyncClient, article_url: str) -> list[ListedFile]:
    """The needed files, as the article lists them.

    Raises:
        FetchFailed: no such article, no proper list, or a needed file is not in it.
    """
    content = bytearray()
    async with _get(client, article_url, "the article's file list") as response:
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > LONGEST_LIST:
                raise FetchFailed("the article's file list is too long")
    try:
        article = json.loads(content)
    except (ValueError, RecursionError):
        raise FetchFailed("the article's file list is not JSON") from None
    entries = article.get("files") if isinstance(article, dict) else None
    if not isinstance(entries, list):
        raise FetchFailed("the article's file list is not of the shape that is known")
    by_name = {str(entry.get("name")): entry for entry in entries if isinstance(entry, dict)}
    missing = [name for name in NEEDED if name not in by_name]
    if missing:
        raise FetchFailed(f"the article does not list {', '.join(missing)}")
    return [_listed(by_name[name], urlsplit(article_url).scheme) for name in NEEDED]


def _listed(entry: dict[str, Any], scheme: str) -> ListedFile:
    name, size, url = entry["name"], entry.get("size"), entry.get("download_url")
    md5 = str(entry.get("computed_md5") or entry.get("supplied_md5") or "").lower()
    if type(size) is not int or not 0 < size <= LARGEST_FILE:
        raise FetchFailed(f"{name}: the size that is listed is not between 1 and {LARGEST_FILE} bytes")
    if not isinstance(url, str) or urlsplit(url).scheme not in {scheme, "https"}:
        raise FetchFailed(f"{name}: no proper address is listed")
    if not _MD5.fullmatch(md5):
        raise FetchFailed(f"{name}: no MD5 sum is listed")
    return ListedFile(name, size, url, md5)


async def download(client: httpx.AsyncClient, file: ListedFile, path: Path) -> None:
    """Stream one file to the disk, and check it against the size and the sum that are listed.

    Raises:
        FetchFailed: it cannot be had, or is not the file that was listed.
    """
    digest, size = hashlib.md5(usedforsecurity=False), 0
    async with _get(client, file.url, file.name) as response:
        with path.open("wb") as target:
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > file.size:
                    raise FetchFailed(f"{file.name}: longer than the {file.size} bytes that are listed")
                digest.update(chunk)
                target.write(chunk)
    if size < file.size:
        raise FetchFailed(f"{file.name}: cut off after {size} of {file.size} bytes")
    if digest.hexdigest() != file.md5:
        raise FetchFailed(f"{file.name}: its MD5 sum is not the listed one; nothing was kept")


@asynccontextmanager
async def _get(client: httpx.AsyncClient, url: str, what: str) -> AsyncIterator[httpx.Response]:
    """A streamed answer of status 200. Redirects are followed here and nowhere else: the sums say what arrived."""
    try:
        async with client.stream(
            "GET", url, headers={"Accept-Encoding": "identity"}, follow_redirects=True
        ) as response:
            if response.status_code != httpx.codes.OK:
                raise FetchFailed(f"{what}: the server answered with status {response.status_code}")
            yield response
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise FetchFailed(f"{what}: the connection failed ({type(error).__name__})") from None

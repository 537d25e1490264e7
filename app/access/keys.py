"""API keys: what is kept of them, and whose a presented one is.

A key is 256 random bits, so nobody can try them out: a plain SHA-256 hides it as well as a slow hash would
(docs/decisions/0017). What the operator keeps is `owner:scopes:hash`, which is no secret.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.access.caller import SCOPES, Caller, Scope
from domains.errors import BadInput, Fault

PREFIX = "cpk_"
"""Begins every key, so that scanners for leaked secrets can know one."""
_BYTES = 32
_OWNER = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{64}")
_SETTING = "CROSSPATH_API_KEYS"


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """What is kept of one key."""

    caller: Caller
    digest: bytes

    def __str__(self) -> str:
        scopes = "+".join(scope for scope in SCOPES if scope in self.caller.scopes)
        return f"{self.caller.owner}:{scopes}:{self.digest.hex()}"


class Keyring:
    """The keys that are accepted. Empty: nobody is asked for one."""

    def __init__(self, entries: Iterable[KeyEntry] = ()) -> None:
        self._entries = tuple(entries)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: str) -> Caller | None:
        """Whose key this is. Every entry is compared, each in constant time, whichever it is."""
        presented = hash_key(key)
        found = None
        for entry in self._entries:
            if hmac.compare_digest(entry.digest, presented):
                found = entry.caller
        return found


def new_key(owner: str, scopes: Sequence[str]) -> tuple[str, KeyEntry]:
    """A fresh key, and what is to be kept of it.

    Raises:
        BadInput: the owner's name or a scope is none.
    """
    key = PREFIX + secrets.token_urlsafe(_BYTES)
    return key, parse_entry(f"{owner}:{'+'.join(scopes)}:{hash_key(key).hex()}", "key")


def hash_key(key: str) -> bytes:
    """SHA-256 of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def read_keys(stated: Sequence[str]) -> Keyring:
    """The keys of the setting, each as `owner:scopes:hash`, scopes joined by `+`.

    Raises:
        BadInput: naming every entry that cannot be read by its place, never what it says; two entries for one key.
    """
    entries: list[KeyEntry] = []
    faults: list[Fault] = []
    for place, text in enumerate(stated):
        try:
            entries.append(parse_entry(text, f"{_SETTING}.{place}"))
        except BadInput as bad:
            faults += bad.faults
    if len({entry.digest for entry in entries}) < len(entries):
        faults.append(Fault(_SETTING, "the same key stands in it twice"))
    if faults:
        raise BadInput(faults)
    return Keyring(entries)


def parse_entry(text: str, where: str) -> KeyEntry:
    """One entry.

    Raises:
        BadInput: at `where`, without the text: somebody may have put the key itself there.
    """
    owner, _, rest = text.partition(":")
    named, _, digest = rest.partition(":")
    if not _HASH.fullmatch(digest):
        raise BadInput.at(where, "must be owner:scopes:hash, as `crosspath key new` prints it")
    if not _OWNER.fullmatch(owner):
        raise BadInput.at(where, "the owner must be 1 to 64 of a-z, 0-9, `.`, `_`, `-`")
    scopes: list[Scope] = [scope for scope in SCOPES if scope in named.split("+")]
    if len(scopes) < len(named.split("+")):
        raise BadInput.at(where, f"the scopes must be of: {', '.join(SCOPES)}, joined by `+`")
    return KeyEntry(Caller(owner, frozenset(scopes)), bytes.fromhex(digest))

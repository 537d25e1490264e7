"""Where a request came to and from: rules against web pages elsewhere that drive a service nobody else should reach.

DNS rebinding makes a browser send a page's requests to 127.0.0.1 under the page's own host name, so the name tells it.
A page that posts across origins is told by its `Origin`, or by `Sec-Fetch-Site`. Neither is a key: both keep out
browsers, whose users did not mean it, and nobody else.
"""

import ipaddress
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import urlsplit

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
ANY_HOST = "*"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""They change nothing, and another origin's page cannot read the answer."""


@lru_cache(maxsize=64)
def is_local(server: str | None) -> bool:
    """Whether nothing beyond this machine reaches the address that a connection came to.

    None is a Unix socket, and a name is a transport in this process; real connections come to numbers.
    """
    return _address(server or "") is None or is_loopback(server or "")


def is_loopback(host: str) -> bool:
    """Whether an address to bind, or one that a connection came to, is of this machine only."""
    address = _address(host)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return host == "localhost" if address is None else address.is_loopback


@lru_cache(maxsize=64)
def host_name(host: str) -> str:
    """The name in a `Host` header, without its port, in lower case; empty where it is none."""
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname or "" if parts.netloc == host and "@" not in host else ""
    except ValueError:
        return ""


def host_allowed(hosts: Collection[str], server: str | None, declared: Collection[str]) -> bool:
    """Whether the `Host` headers of a request name this service: once, by a declared name, by one of this machine, or
    by the very address that the connection came to. A page's own name can be made to lead here; a number cannot."""
    if ANY_HOST in declared:
        return True
    name = host_name(*hosts) if len(hosts) == 1 else ""
    if not name:
        return False
    return name in LOCAL_NAMES or name == _bare(server) or name in [host_name(each) or each for each in declared]


def same_origin(origin: str | None, fetch_site: str | None, host: str) -> bool:
    """Whether a write comes from a page of this service, or from no page at all.

    A browser that says where it fetches from is believed (`Sec-Fetch-Site` cannot be set by a page); one that does not
    sends the `Origin`, which must then be of the host that was asked.
    """
    if fetch_site is not None:
        return fetch_site in ("same-origin", "none")
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def _bare(server: str | None) -> str:
    return (server or "localhost").lower()


@lru_cache(maxsize=64)
def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None

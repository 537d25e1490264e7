"""Who may drive a service that asks for no key: programs of this machine, and its own page; no page elsewhere."""

import pytest

from app.access.origins import host_allowed, host_name, is_local, is_loopback, same_origin


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"])
def test_an_address_of_this_machine_only_is_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "", "localhost.example", "::ffff:8.8.8.8"]
)
def test_any_other_address_may_be_reached_from_outside(host: str) -> None:
    assert not is_loopback(host)


def test_a_unix_socket_is_local() -> None:
    assert is_local(None)


@pytest.mark.parametrize(
    ("host", "name"),
    [("localhost:8000", "localhost"), ("LOCALHOST", "localhost"), ("[::1]:8000", "::1"), ("127.0.0.1", "127.0.0.1"),
     ("a b", "a b"), ("user@localhost", ""), ("localhost/x", ""), ("localhost#", ""), ("[::1", ""), ("", "")],
)  # fmt: skip
def test_the_name_in_a_host_header(host: str, name: str) -> None:
    assert host_name(host) == name


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_a_name_of_this_machine_names_this_service(host: str) -> None:
    assert host_allowed([host], "127.0.0.1", ())


def test_the_very_address_that_was_connected_to_names_this_service() -> None:
    assert host_allowed(["10.0.0.7:8000"], "10.0.0.7", ())


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "0.0.0.0", "localhost.evil.example", "10.0.0.8"])
def test_a_name_that_was_made_to_lead_here_does_not(host: str) -> None:
    assert not host_allowed([host], "127.0.0.1", ())


@pytest.mark.parametrize("hosts", [[], ["localhost", "evil.example"], ["localhost", "localhost"]])
def test_none_or_two_names_are_no_name(hosts: list[str]) -> None:
    assert not host_allowed(hosts, "127.0.0.1", ())


def test_declared_names_are_added_to_those_of_this_machine() -> None:
    assert host_allowed(["decide.example"], "10.0.0.7", ("Decide.example",))
    assert host_allowed(["localhost"], "127.0.0.1", ("decide.example",))
    assert not host_allowed(["other.example"], "10.0.0.7", ("decide.example",))
    assert host_allowed(["anything.example"], "10.0.0.7", ("*",))


@pytest.mark.parametrize(
    ("origin", "site", "allowed"),
    [(None, None, True), ("http://localhost:8000", None, True), ("http://localhost:8000", "same-origin", True),
     (None, "none", True), ("https://localhost:8000", "same-origin", True), ("http://evil.example", None, False),
     ("http://evil.example", "cross-site", False), ("null", None, False), ("http://localhost:8001", None, False),
     ("http://localhost", "same-site", False), ("http://localhost:8000", "cross-site", False),
     ("http://[", None, False)],
)  # fmt: skip
def test_a_write_comes_from_our_own_page_or_from_no_page(origin: str | None, site: str | None, allowed: bool) -> None:
    assert same_origin(origin, site, "localhost:8000") is allowed

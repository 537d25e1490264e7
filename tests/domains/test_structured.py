from dataclasses import replace

from domains.case import Domain, Label
from domains.catalogue import ad_hoc_domain
from domains.structured import closed, listed_posterior
from tests.domains.replies import DOMAIN


def label_schema(domain: Domain) -> object:
    return listed_posterior(domain)["items"]["properties"]["label"]


def test_a_closed_object_requires_all_its_members_and_allows_no_other() -> None:
    assert closed({"b": {"type": "string"}, "a": {"type": "number"}}) == {
        "type": "object",
        "properties": {"b": {"type": "string"}, "a": {"type": "number"}},
        "required": ["b", "a"],
        "additionalProperties": False,
    }


def test_a_pack_s_labels_are_an_enum() -> None:
    assert label_schema(DOMAIN) == {"type": "string", "enum": list(DOMAIN.label_names)}


def test_labels_of_a_request_are_not() -> None:
    assert label_schema(ad_hoc_domain(["one", "two"])) == {"type": "string"}


def test_more_labels_than_strict_output_takes_go_without() -> None:
    many = replace(DOMAIN, labels=tuple(Label(f"label {number}") for number in range(1_001)))
    assert label_schema(many) == {"type": "string"}

"""Domains by name, packs with several faults, and label sets that a request brings."""

from pathlib import Path

import pytest

from domains.catalogue import Catalogue, ad_hoc_domain, check_domain, load_domain
from domains.errors import BadInput, NotFound
from tests.domains.bread import EXEMPLAR, FINDINGS, LABELS, TOML, Changes, ndjson, write_pack

CHANGES: Changes = {
    "domain.toml": TOML.replace('"bread"', '"cake"'),
    "labels.csv": LABELS + "Dead yeast,,\nBurnt\n",
    "findings.csv": FINDINGS + "cracks,,symptom,\n",
    "exemplars.ndjson": ndjson({**EXEMPLAR, "gold": "Raw"}, EXEMPLAR) + "broken\n",
}
PLACES = (
    "labels.csv:6", "findings.csv:5", "findings.csv:5", "domain.toml:1", "labels.csv:5",
    "exemplars.ndjson:1 case.gold", "exemplars.ndjson:3",
)  # fmt: skip


class TestSeveralFaults:
    def test_all_are_told_at_once(self, tmp_path: Path) -> None:
        found = check_domain(write_pack(tmp_path, CHANGES))
        assert sorted(fault.where for fault in found) == sorted(PLACES)

    def test_loading_tells_them_too(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput) as refused:
            load_domain(write_pack(tmp_path, CHANGES))
        assert sorted(fault.where for fault in refused.value.faults) == sorted(PLACES)


class TestCatalogue:
    def test_has_the_packs_of_both_folders(self, tmp_path: Path) -> None:
        write_pack(tmp_path)
        assert set(Catalogue(tmp_path).names()) == {"bread", *Catalogue().names()}

    def test_gives_a_domain_by_its_name_and_keeps_it(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path)
        catalogue = Catalogue(tmp_path)
        assert catalogue.path("bread") == pack
        assert catalogue.get("bread") is catalogue.get("bread")

    @pytest.mark.parametrize("name", ["cake", "", ".", "..", "../bread", "bread/"])
    def test_knows_no_other_name(self, tmp_path: Path, name: str) -> None:
        write_pack(tmp_path)
        with pytest.raises(NotFound) as refused:
            Catalogue(tmp_path).get(name)
        assert [fault.where for fault in refused.value.faults] == ["domain"]

    def test_a_broken_pack_hides_no_other(self, tmp_path: Path) -> None:
        write_pack(tmp_path)
        write_pack(tmp_path / "more").rename(tmp_path / "cake")
        catalogue = Catalogue(tmp_path)
        assert {"bread", "cake"} <= set(catalogue.names())
        assert catalogue.get("bread").name == "bread"
        with pytest.raises(BadInput, match="the name is not the folder's"):
            catalogue.get("cake")

    def test_a_pack_that_was_mended_is_read_again(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"labels.csv": None})
        catalogue = Catalogue(tmp_path)
        with pytest.raises(BadInput):
            catalogue.get("bread")
        (pack / "labels.csv").write_text(LABELS, "utf-8")
        assert len(catalogue.get("bread").labels) == 3

    def test_a_pack_of_ones_own_stands_in_for_a_built_in_one(self, tmp_path: Path) -> None:
        own = write_pack(tmp_path / "own")
        built_in = write_pack(tmp_path / "built-in")
        assert Catalogue(built_in=built_in.parent).path("bread") == built_in
        assert Catalogue(own.parent, built_in.parent).path("bread") == own

    def test_folders_that_are_no_packs_have_no_name(self, tmp_path: Path) -> None:
        (tmp_path / "notes").mkdir()
        (tmp_path / "readme.txt").touch()
        assert Catalogue(tmp_path).names() == Catalogue().names()

    def test_refuses_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="no such folder of domain packs"):
            Catalogue(tmp_path / "nowhere")


class TestAdHocDomain:
    def test_has_the_labels_in_the_order_given(self) -> None:
        domain = ad_hoc_domain(["Cat", "Dog", " Guinea  pig "])
        assert (domain.name, domain.label_names, domain.top_k) == ("ad-hoc", ("Cat", "Dog", "Guinea pig"), 3)

    @pytest.mark.parametrize(
        ("labels", "places"),
        [
            ([], ["labels"]),
            (["Cat"], ["labels"]),
            (["Cat", "Dog", "Cat"], ["labels.2"]),
            (["Cat", "Dog", "", " "], ["labels.2", "labels.3"]),
            ([""], ["labels", "labels.0"]),
        ],
    )
    def test_refuses_what_is_no_closed_set(self, labels: list[str], places: list[str]) -> None:
        with pytest.raises(BadInput) as refused:
            ad_hoc_domain(labels)
        assert [fault.where for fault in refused.value.faults] == places

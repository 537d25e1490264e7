"""Packs are read as written, and everything that is wrong with one is told with file and line."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from domains.catalogue import Catalogue, ad_hoc_domain, check_domain, load_cases, load_domain
from domains.errors import BadInput, NotFound

TOML = """\
name = "bread"
title = "What went wrong with the loaf"
case_noun = "loaf"
label_noun = "mistake"
licence = "CC0-1.0"
description = "Loaves that did not turn out well."

[source]
note = "free text"
"""
LABELS = """\
label,aliases,description
Too little salt,unsalted|no salt,tastes of nothing
"Oven, too cold",cold oven,
Dead yeast,,
"""
FINDINGS = """\
id,text,kind,group
old_yeast,Yeast was past its date,context,
pale,Pale crust,evidence,look
dense,Dense crumb,evidence,look
"""
EXEMPLAR = {
    "context": [{"id": "old_yeast"}],
    "evidence": [{"id": "dense"}, {"id": "pale", "present": False}],
    "gold": "Dead yeast",
    "reasoning": "Old yeast lifts nothing.",
}
CASE = {"id": "loaf-1", "evidence": [{"id": "pale"}], "gold": "Oven, too cold"}
FILES: Mapping[str, str] = {
    "domain.toml": TOML,
    "labels.csv": LABELS,
    "findings.csv": FINDINGS,
    "exemplars.ndjson": json.dumps(EXEMPLAR) + "\n",
}


def write_pack(folder: Path, changes: Mapping[str, str | bytes | None] | None = None) -> Path:
    """The sound pack with some files replaced, added or (None) left out."""
    pack = folder / "bread"
    for name, content in {**FILES, **(changes or {})}.items():
        path = pack / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return pack


def faults(folder: Path, changes: Mapping[str, str | bytes | None]) -> list[str]:
    """What the check says of the sound pack with these changes."""
    return [str(fault) for fault in check_domain(write_pack(folder, changes))]


def the_fault(folder: Path, changes: Mapping[str, str | bytes | None]) -> str:
    """The one fault that the changes make."""
    found = faults(folder, changes)
    assert len(found) == 1, found
    return found[0]


def ndjson(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


class TestASoundPack:
    def test_has_no_faults(self, tmp_path: Path) -> None:
        assert faults(tmp_path, {}) == []

    def test_is_loaded_as_written(self, tmp_path: Path) -> None:
        domain = load_domain(write_pack(tmp_path))
        assert domain.label_names == ("Too little salt", "Oven, too cold", "Dead yeast")
        assert domain.labels[0].aliases == ("unsalted", "no salt")
        assert [(f.id, f.kind, f.group) for f in domain.findings] == [
            ("old_yeast", "context", ""),
            ("pale", "evidence", "look"),
            ("dense", "evidence", "look"),
        ]
        assert (domain.name, domain.case_noun, domain.label_noun) == ("bread", "loaf", "mistake")

    def test_has_its_exemplars_with_reasons(self, tmp_path: Path) -> None:
        (exemplar,) = load_domain(write_pack(tmp_path)).exemplars
        assert exemplar.case.gold == "Dead yeast"
        assert exemplar.reasoning == "Old yeast lifts nothing."
        assert [(o.finding.id, o.present) for o in exemplar.case.evidence] == [("pale", False), ("dense", True)]

    def test_names_five_labels_at_most_and_never_more_than_there_are(self, tmp_path: Path) -> None:
        assert load_domain(write_pack(tmp_path)).top_k == 3

    def test_may_say_how_many_labels_an_answer_names(self, tmp_path: Path) -> None:
        assert load_domain(write_pack(tmp_path, {"domain.toml": "top_k = 2\n" + TOML})).top_k == 2

    def test_may_bring_personas(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"personas/old_baker.md": "You baked for forty years.\n"})
        assert load_domain(pack).personas == {"old_baker": "You baked for forty years."}

    @pytest.mark.parametrize("name", sorted(FILES))
    def test_may_begin_with_a_byte_order_mark(self, tmp_path: Path, name: str) -> None:
        assert faults(tmp_path, {name: b"\xef\xbb\xbf" + FILES[name].encode()}) == []

    @pytest.mark.parametrize("name", sorted(FILES))
    def test_may_have_the_line_ends_of_windows(self, tmp_path: Path, name: str) -> None:
        assert faults(tmp_path, {name: FILES[name].replace("\n", "\r\n")}) == []

    def test_may_have_blank_lines(self, tmp_path: Path) -> None:
        assert faults(tmp_path, {"labels.csv": LABELS.replace("\n", "\n\n")}) == []

    def test_has_its_texts_on_one_line_as_prompts_need_them(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"findings.csv": FINDINGS.replace("Pale crust", '"Pale\n- absent:  crust"')})
        assert load_domain(pack).findings[1].text == "Pale - absent: crust"

    def test_is_called_like_its_folder_also_from_inside_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(write_pack(tmp_path))
        assert check_domain(Path()) == []


class TestFiles:
    @pytest.mark.parametrize("name", sorted(FILES))
    def test_a_missing_file_is_named(self, tmp_path: Path, name: str) -> None:
        assert the_fault(tmp_path, {name: None}) == f"{name}: the file is missing"

    @pytest.mark.parametrize("name", sorted(FILES))
    def test_bytes_that_are_not_utf8_are_named_by_line(self, tmp_path: Path, name: str) -> None:
        spoilt = FILES[name].encode() + b"\n\xff\n"
        line = spoilt.count(b"\n", 0, spoilt.index(b"\xff")) + 1
        assert the_fault(tmp_path, {name: spoilt}) == f"{name}:{line}: is not UTF-8"

    def test_their_line_is_right_behind_a_byte_order_mark(self, tmp_path: Path) -> None:
        assert the_fault(tmp_path, {"labels.csv": b"\xef\xbb\xbflabel\n\xff"}) == "labels.csv:2: is not UTF-8"

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        assert [str(fault) for fault in check_domain(tmp_path / "cake")] == ["cake: there is no such folder"]

    def test_a_folder_in_a_files_place(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"labels.csv": None})
        (pack / "labels.csv").mkdir()
        (fault,) = check_domain(pack)
        assert fault.where == "labels.csv"


class TestTables:
    def test_an_empty_file_has_no_header(self, tmp_path: Path) -> None:
        assert the_fault(tmp_path, {"labels.csv": ""}) == "labels.csv:1: has no header"

    def test_a_missing_column(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": "label,description\nA,\nB,\n"})
        assert fault == "labels.csv:1: the column 'aliases' is missing"

    def test_an_unknown_column(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"findings.csv": FINDINGS.replace(",group", ",groop")})
        assert fault == "findings.csv:1: the column 'groop' is unknown"

    def test_a_column_twice(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": "label,aliases,description,label\nA,,,A\n"})
        assert fault == "labels.csv:1: the column 'label' is there twice"

    def test_a_row_with_a_cell_too_few(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + "Burnt,\n"})
        assert fault == "labels.csv:5: has 2 cells; the header names 3 columns"

    def test_a_row_with_a_cell_too_many(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + "Burnt,,,\n"})
        assert fault == "labels.csv:5: has 4 cells; the header names 3 columns"

    def test_a_quote_that_is_never_closed_is_named_where_it_opens(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + '"Burnt,,\nStale,,\n'})
        assert fault.startswith("labels.csv:5: is not well-formed CSV")

    def test_lines_are_counted_right_behind_cells_of_several_lines(self, tmp_path: Path) -> None:
        table = LABELS.replace("tastes of nothing", '"tastes\nof\n\nnothing"') + "Burnt,\n"
        assert the_fault(tmp_path, {"labels.csv": table}).startswith("labels.csv:8: has 2 cells")

    def test_a_row_of_several_lines_is_named_by_its_first(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + 'Dead yeast,,"on\ntwo lines"\n'})
        assert fault == "labels.csv:5: the label was given before, at labels.csv:4"


class TestLabels:
    def test_a_label_twice(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + "Dead  yeast ,,\n"})
        assert fault == "labels.csv:5: the label was given before, at labels.csv:4"

    def test_an_empty_label(self, tmp_path: Path) -> None:
        assert the_fault(tmp_path, {"labels.csv": LABELS + ",burnt,\n"}) == "labels.csv:5: the label is empty"

    def test_an_empty_alias(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + "Burnt,black||charred,\n"})
        assert fault == "labels.csv:5: an alias is empty"

    def test_an_alias_that_is_another_label_but_for_its_spelling(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + "Burnt,DEAD-yeast,\n"})
        assert fault == "labels.csv:5: the alias 'DEAD-yeast' is the label of labels.csv:4"

    def test_an_alias_that_another_label_has_too(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"labels.csv": LABELS + "Burnt,Cold oven!,\n"})
        assert fault == "labels.csv:5: the alias 'Cold oven!' is an alias at labels.csv:3 too"

    def test_an_alias_that_is_its_own_labels_name_does_no_harm(self, tmp_path: Path) -> None:
        assert faults(tmp_path, {"labels.csv": LABELS + "Burnt,burnt,\n"}) == []

    def test_two_labels_that_differ_in_punctuation_only_are_two_labels(self, tmp_path: Path) -> None:
        assert faults(tmp_path, {"labels.csv": LABELS + "Rh+,,\nRh-,,\n"}) == []

    def test_one_label_is_too_few(self, tmp_path: Path) -> None:
        found = faults(tmp_path, {"labels.csv": "label,aliases,description\nDead yeast,,\n"})
        assert found == ["labels.csv: a closed set has at least two labels"]


class TestFindings:
    def test_an_id_twice(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"findings.csv": FINDINGS + "pale,Pale sides,evidence,\n"})
        assert fault == "findings.csv:5: the id was given before, at findings.csv:3"

    def test_an_empty_id(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"findings.csv": FINDINGS + ",Cracks,evidence,\n"})
        assert fault == "findings.csv:5: the id is empty"

    def test_an_empty_text(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"findings.csv": FINDINGS + "cracks, ,evidence,\n"})
        assert fault == "findings.csv:5: the text is empty"

    def test_an_unknown_kind(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"findings.csv": FINDINGS + "cracks,Cracks,symptom,\n"})
        assert fault == "findings.csv:5: the kind is neither context nor evidence"

    def test_groups_are_optional(self, tmp_path: Path) -> None:
        table = "id,text,kind\nold_yeast,Old,context\npale,Pale,evidence\ndense,Dense,evidence\n"
        assert faults(tmp_path, {"findings.csv": table}) == []


class TestDomainToml:
    def test_toml_that_does_not_parse_is_named_by_line(self, tmp_path: Path) -> None:
        assert the_fault(tmp_path, {"domain.toml": TOML + "\nbroken\n"}).startswith("domain.toml:11: is not TOML")

    def test_toml_that_ends_too_early_is_named_by_its_last_line(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"domain.toml": TOML + 'more = """open\n'})
        assert fault.startswith("domain.toml:11: is not TOML")

    def test_an_unknown_key(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"domain.toml": 'licence_url = ""\n' + TOML})
        assert fault == "domain.toml:1: the key 'licence_url' is unknown"

    def test_the_line_of_a_key_is_not_that_of_its_look_alike_in_a_text(self, tmp_path: Path) -> None:
        toml = TOML.replace('"Loaves that did not turn out well."', '"""\nextra = 1\n"""\nextra = 2')
        assert the_fault(tmp_path, {"domain.toml": toml}) == "domain.toml:9: the key 'extra' is unknown"

    @pytest.mark.parametrize("key", ["name", "title", "case_noun", "label_noun", "licence", "description"])
    def test_a_missing_key(self, tmp_path: Path, key: str) -> None:
        lines = [line for line in TOML.splitlines() if not line.startswith(f"{key} ")]
        assert the_fault(tmp_path, {"domain.toml": "\n".join(lines)}) == f"domain.toml: the key {key!r} is missing"

    def test_a_key_that_is_no_text(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"domain.toml": TOML.replace('"loaf"', "1")})
        assert fault == "domain.toml:3: the key 'case_noun' is not a text with something in it"

    def test_another_name_than_the_folders(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"domain.toml": TOML.replace('"bread"', '"cake"')})
        assert fault == "domain.toml:1: the name is not the folder's, 'bread'"

    def test_a_name_with_other_characters(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"domain.toml": TOML.replace('"bread"', '"Bread & butter"')})
        (fault,) = check_domain(pack.rename(tmp_path / "Bread & butter"))
        assert str(fault) == "domain.toml:1: the name has other characters than a-z, 0-9, _ and -"

    @pytest.mark.parametrize("top_k", ["0", "4", "true", "2.0", '"2"'])
    def test_a_top_k_that_is_no_number_of_labels(self, tmp_path: Path, top_k: str) -> None:
        fault = the_fault(tmp_path, {"domain.toml": f"top_k = {top_k}\n{TOML}"})
        assert fault == "domain.toml:1: top_k is no whole number from 1 to 3, the number of labels"

    def test_a_source_that_is_no_table(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"domain.toml": TOML.replace("\n[source]\nnote", "source")})
        assert fault == "domain.toml:7: 'source' is not a table"


class TestExemplarsAndCases:
    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"gold": "Burnt"}, "exemplars.ndjson:1 case.gold: not a label of the domain"),
            ({"gold": None}, "exemplars.ndjson:1: 'gold' is missing"),
            ({"gold": 3}, "exemplars.ndjson:1: 'gold' is no text"),
            ({"reasoning": " "}, "exemplars.ndjson:1: 'reasoning' is missing or no text"),
            ({"id": 7}, "exemplars.ndjson:1: 'id' is no text"),
            ({"why": "so"}, "exemplars.ndjson:1: the key 'why' is unknown"),
            ({"evidence": "pale"}, "exemplars.ndjson:1 case.evidence: is no list"),
            ({"evidence": ["pale"]}, "exemplars.ndjson:1 case.evidence.0: is no object with an id"),
            ({"evidence": [{"id": 3}]}, "exemplars.ndjson:1 case.evidence.0: is no object with an id"),
            (
                {"evidence": [{"id": "pale", "present": "no"}]},
                "exemplars.ndjson:1 case.evidence.0: 'text' is no text or 'present' neither true nor false",
            ),
            (
                {"evidence": [{"id": "pale", "absent": True}]},
                "exemplars.ndjson:1 case.evidence.0: has other keys than id, text and present",
            ),
            (
                {"evidence": [{"id": "cracks"}]},
                "exemplars.ndjson:1 case.evidence.0.id: the domain does not know this finding; "
                "an ad-hoc finding needs a text",
            ),
        ],
    )
    def test_an_exemplar_that_is_none(self, tmp_path: Path, change: Mapping[str, object], problem: str) -> None:
        assert the_fault(tmp_path, {"exemplars.ndjson": ndjson({**EXEMPLAR, **change})}) == problem

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("{", "is not JSON"),
            ('{"id": NaN}', "is not JSON"),
            ('{"id": "a", "id": "b"}', "gives a key twice"),
            ("[]", "is not a JSON object"),
            ('{"id": "\\ud800"}', "is not UTF-8"),
            ("[" * 100_000, "is not JSON"),
        ],
    )
    def test_a_line_that_is_no_object(self, tmp_path: Path, line: str, problem: str) -> None:
        content = ndjson(EXEMPLAR) + "\n" + line + "\n"
        assert the_fault(tmp_path, {"exemplars.ndjson": content}) == f"exemplars.ndjson:3: {problem}"

    def test_a_case_may_be_without_gold(self, tmp_path: Path) -> None:
        assert faults(tmp_path, {"cases.ndjson": ndjson({"evidence": [{"id": "pale"}]})}) == []

    def test_the_cases_of_a_pack_are_checked_too(self, tmp_path: Path) -> None:
        content = ndjson(CASE, {**CASE, "gold": "Burnt"})
        assert the_fault(tmp_path, {"cases.ndjson": content}) == "cases.ndjson:2 case.gold: not a label of the domain"

    def test_loaded_cases_come_one_by_one(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"cases.ndjson": ndjson(CASE, CASE) + "broken\n"})
        cases = load_cases(pack / "cases.ndjson", load_domain(pack))
        assert [next(cases).id, next(cases).gold] == ["loaf-1", "Oven, too cold"]
        with pytest.raises(BadInput, match=r"^cases\.ndjson:3: is not JSON$"):
            next(cases)

    def test_a_case_without_an_id_is_called_after_its_line(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"cases.ndjson": "\n" + ndjson({"evidence": [{"id": "pale"}]})})
        (case,) = load_cases(pack / "cases.ndjson", load_domain(pack))
        assert case.id == "cases.ndjson:2"

    def test_a_file_of_cases_that_is_not_there(self, tmp_path: Path) -> None:
        domain = load_domain(write_pack(tmp_path))
        with pytest.raises(BadInput, match=r"^mine\.ndjson: the file is missing$"):
            list(load_cases(tmp_path / "mine.ndjson", domain))


class TestOptionalFiles:
    def test_a_persona_that_is_empty(self, tmp_path: Path) -> None:
        assert the_fault(tmp_path, {"personas/baker.md": " \n"}) == "personas/baker.md: is empty"

    def test_a_persona_whose_name_cannot_be_asked_for(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"personas/Old@Baker.md": "You bake."})
        assert fault == "personas/Old@Baker.md: the name has other characters than a-z, 0-9, _ and -"

    def test_broken_knowledge_is_told(self, tmp_path: Path) -> None:
        fault = the_fault(tmp_path, {"knowledge.csv": "label,finding,probability\nDead yeast,pale,2\n"})
        assert fault == "knowledge.csv:2: the probability is no number from 0 to 1"

    def test_a_sound_simulation(self, tmp_path: Path) -> None:
        assert faults(tmp_path, {"simulation.toml": "[profiles.plain]\nknow = 2.5\nseed = 3\n"}) == []

    def test_a_simulation_that_is_not_toml(self, tmp_path: Path) -> None:
        assert the_fault(tmp_path, {"simulation.toml": "[profiles.plain\n"}).startswith("simulation.toml:1: is not")

    @pytest.mark.parametrize("toml", ["", "profiles = 3\n", "[profiles]\nplain = 3\n"])
    def test_a_simulation_without_profiles(self, tmp_path: Path, toml: str) -> None:
        assert "'profiles' is missing or no table of tables" in the_fault(tmp_path, {"simulation.toml": toml})

    @pytest.mark.parametrize("value", ["true", '"2"', "nan", "inf", "[1]"])
    def test_a_profile_with_something_else_than_numbers(self, tmp_path: Path, value: str) -> None:
        fault = the_fault(tmp_path, {"simulation.toml": f"[profiles.plain]\nknow = {value}\n"})
        assert fault == "simulation.toml: 'know' of the profile 'plain' is no finite number"


class TestSeveralFaults:
    CHANGES: Mapping[str, str | bytes | None] = {
        "domain.toml": TOML.replace('"bread"', '"cake"'),
        "labels.csv": LABELS + "Dead yeast,,\nBurnt\n",
        "findings.csv": FINDINGS + "cracks,,symptom,\n",
        "exemplars.ndjson": ndjson({**EXEMPLAR, "gold": "Raw"}, EXEMPLAR) + "broken\n",
    }
    PLACES = (
        "labels.csv:6", "findings.csv:5", "findings.csv:5", "domain.toml:1", "labels.csv:5",
        "exemplars.ndjson:1 case.gold", "exemplars.ndjson:3",
    )  # fmt: skip

    def test_all_are_told_at_once(self, tmp_path: Path) -> None:
        found = check_domain(write_pack(tmp_path, self.CHANGES))
        assert sorted(fault.where for fault in found) == sorted(self.PLACES)

    def test_loading_tells_them_too(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput) as refused:
            load_domain(write_pack(tmp_path, self.CHANGES))
        assert sorted(fault.where for fault in refused.value.faults) == sorted(self.PLACES)


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

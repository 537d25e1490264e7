"""A sound pack is read as written; everything that is wrong with one is told with file and line."""

from pathlib import Path

import pytest

from domains.catalogue import check_domain, load_domain
from tests.domains.bread import FILES, FINDINGS, LABELS, TOML, faults, the_fault, write_pack


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

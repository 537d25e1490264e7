"""Which request meets which fault, and how a rehearsal is specified."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.errors import BadInput
from simulator.faults import KINDS, OK, Faults, Pace, read_faults


def drawn(faults: Faults, bodies: int = 4_000) -> list[str]:
    return [faults.draw(b"%d" % place).fault for place in range(bodies)]


class TestDrawing:
    def test_the_same_requests_meet_the_same_faults_in_any_order(self) -> None:
        rates = {"429": 0.3, "drip": 0.3}
        forwards, backwards = Faults(rates), Faults(rates)

        there = {place: forwards.draw(b"%d" % place) for place in range(100)}
        back = {place: backwards.draw(b"%d" % place) for place in reversed(range(100))}

        assert there == back

    def test_another_seed_draws_other_faults(self) -> None:
        assert drawn(Faults({"500": 0.5}, seed=1)) != drawn(Faults({"500": 0.5}, seed=2))

    def test_a_request_sent_again_is_another_draw(self) -> None:
        faults = Faults({"500": 0.5})

        attempts = [faults.draw(b"the same") for _ in range(40)]

        assert [each.attempt for each in attempts] == list(range(1, 41))
        assert len({each.digest for each in attempts}) == 1
        assert {each.fault for each in attempts} == {"500", OK}

    def test_classes_come_at_their_rates(self) -> None:
        rates = {"429": 0.06, "reset_body": 0.2, "huge": 0.01}
        met = drawn(Faults(rates), 20_000)

        for name, rate in (rates | {OK: 0.73}).items():
            deviation = (rate * (1 - rate) / len(met)) ** 0.5
            assert abs(met.count(name) / len(met) - rate) < 5 * deviation

    @pytest.mark.parametrize("name", KINDS)
    def test_a_rate_of_one_is_always(self, name: str) -> None:
        assert set(drawn(Faults({name: 1.0}), 200)) == {name}

    def test_no_rates_are_no_faults(self) -> None:
        assert set(drawn(Faults(), 200)) == {OK}


class TestSpecifying:
    def test_rates_and_durations_stand_in_one_list(self) -> None:
        faults = read_faults(" 429=0.06, drip = 0.01,drip_s=0.5,", seed=7)

        assert (faults.rates, faults.pace, faults.seed) == ({"429": 0.06, "drip": 0.01}, Pace(drip_s=0.5), 7)

    def test_a_toml_file_says_the_same(self, tmp_path: Path) -> None:
        file = tmp_path / "outage.toml"
        file.write_text('429 = 0.06\ndrip = 0.01\ndrip_s = 0.5\n"502" = 0\n', "utf-8")

        assert read_faults(str(file)).rates == {"429": 0.06, "drip": 0.01, "502": 0.0}

    def test_nothing_is_no_faults(self) -> None:
        assert read_faults("").rates == {}

    @pytest.mark.parametrize(
        ("stated", "problem"),
        [
            ("430=0.1", "no class of faults; there are 429,"),
            ("429", "write CLASS=RATE"),
            ("429=often", "must be a rate"),
            ("429=1.01", "must be a rate"),
            ("429=-0.1", "must be a rate"),
            ("429=nan", "must be a rate"),
            ("429=0.1,429=0.1", "stated twice"),
            ("429=0.6,500=0.6", "the rates sum to 1.2"),
            ("drip_s=0", "must be seconds"),
            ("hold_s=inf", "must be seconds"),
            ("nowhere.toml", "cannot be read"),
        ],
    )
    def test_what_cannot_be_meant_is_told(self, stated: str, problem: str) -> None:
        with pytest.raises(BadInput, match=problem):
            read_faults(stated)

    @pytest.mark.parametrize("content", ["429 = ", "429 = true", "[429]\nrate = 1", "429 = [1]"])
    def test_a_file_that_says_something_else_is_told(self, tmp_path: Path, content: str) -> None:
        file = tmp_path / "outage.toml"
        file.write_text(content, "utf-8")

        with pytest.raises(BadInput):
            read_faults(str(file))

    def test_all_that_is_wrong_is_told_at_once(self) -> None:
        with pytest.raises(BadInput) as told:
            read_faults("430=0.1,500=2,drip_s=0")

        assert len(told.value.faults) == 3

    @given(st.text(alphabet="429=0.,drip_s \n\\{", max_size=30))
    def test_any_text_is_read_or_refused(self, stated: str) -> None:
        try:
            faults = read_faults(stated)
        except BadInput:
            return
        assert sum(faults.rates.values()) <= 1.0 + 1e-9


def test_the_operations_page_names_every_class_and_duration() -> None:
    page = (Path(__file__).parents[2] / "docs/operations.md").read_text("utf-8")

    missing = [name for name in (*KINDS, *Pace.__dataclass_fields__) if f"`{name}`" not in page]

    assert not missing

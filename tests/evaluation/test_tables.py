import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from anchor.anchors import ANCHORS
from evaluation.cells import Cell
from evaluation.numbers import Numbers, numbers_of
from evaluation.paper import paper_backbones
from evaluation.scoring import Setting, evaluate
from evaluation.tables import Row, Table, all_tables, calibration_table, further_tables, main_table
from tests.evaluation.worlds import hand_world, random_world

PAPER = [each.numbers for each in paper_backbones().values()]
TABLES = {table.name: table for table in all_tables(PAPER)}


def own_numbers(backbone: str = "some model") -> Numbers:
    world = random_world(1)
    calibrated = replace(ANCHORS["generic_forward"], name="calibrated")
    evaluation = evaluate(
        world.panel, world.sources, world.gold_N, Setting(anchors={**ANCHORS, "calibrated": calibrated})
    )
    return numbers_of(evaluation, backbone, resamples=50)


OWN = own_numbers()


def cell(table: Table, title: str, row: int = 0, group: str = "") -> Cell:
    place = next(i for i, c in enumerate(table.columns) if c.title == title and group in ("", c.group))
    found = table.rows[row].cells[place]
    assert found is not None
    return found


def percent(row: Row) -> list[float | None]:
    return [None if c is None or c.value is None else round(100 * c.value, 2) for c in row.cells]


class TestThePapersTables:
    """Filled with the paper's counts they are the paper's tables."""

    def test_main(self) -> None:
        first = percent(TABLES["main_disagree"].rows[0])

        assert first[:13] == [
            40.35, 45.26, 44.96, 48.12, 44.06, 45.86, 46.47, 44.96, 45.41, 48.57, 46.17, 51.58, 52.78,
        ]  # fmt: skip

    def test_anchors_with_a_row_for_each(self) -> None:
        rows = TABLES["anchors"].rows[6:9]

        assert [(row.backbone, row.part) for row in rows] == [("llama-3.1-8b", part) for part in ("R", "MeanF", "GenF")]
        assert percent(rows[0]) == [31.50, 58.15, 58.46, 30.63, 50.08, 50.90]

    def test_one_factor_on_its_own_pool(self) -> None:
        table = TABLES["one_factor"]

        assert percent(table.rows[1]) == [43.69, 73.20, 73.40, 31.58, 49.77, 50.38]
        assert cell(table, "alone").of == 1989

    def test_calibration_gains_in_points(self) -> None:
        assert percent(TABLES["calibration_calibrated"].rows[1]) == [3.06, 1.53, 0.20, 0.05, 3.96, 3.96, 0.53, -0.26]
        bias = TABLES["calibration_calibrated_class_bias"]
        assert percent(bias.rows[4]) == [12.52, 4.36, 1.32, 3.75, 26.52, 12.59, 3.85, 11.11]

    def test_weights(self) -> None:
        assert percent(TABLES["w_r_sweep"].rows[3]) == [67.04, 66.99, 66.89, 66.89, 44.41, 45.31, 45.88, 47.57]

    def test_the_ranks_it_prints(self) -> None:
        table = TABLES["js_rank_reverse"]
        found = dict(zip([(c.group, c.title) for c in table.columns], percent(table.rows[0]), strict=True))

        assert found["Disagree", "rank 1"] == 45.26
        assert found["Disagree", "rank 2"] is None
        assert (found["Disagree", "rank 5"], found["Disagree", "mean"]) == (27.52, 39.88)

    def test_collisions_and_phi(self) -> None:
        assert [c.value for c in TABLES["pi_all"].rows[0].cells if c] == [0.413, 0.765, 0.829]
        assert [c.value for c in TABLES["phi"].rows[2].cells if c] == [0.16, 0.61, 0.71, 0.17, 0.45, 0.56]

    def test_its_own_numbers_stand_beside_themselves(self) -> None:
        for table in TABLES.values():
            for row in table.rows:
                assert all(c is None or c.paper == c.value for c in row.cells)


OWN_TABLES = {table.name: table for table in all_tables([OWN])}


class TestOwnTables:
    def test_a_cell_has_its_counts_interval_and_ties(self) -> None:
        found = cell(OWN_TABLES["main_all"], "LogLin")

        share = OWN.correct["loglin"]["all"]
        assert (found.value, found.correct, found.of) == (share.rate, share.correct, share.of)
        assert found.comparison == OWN.comparisons["all"].methods["loglin"]
        assert found.tied == OWN.tied["loglin"]["all"].rate
        assert found.paper is None

    def test_the_paper_s_number_stands_beside_where_the_backbone_is_the_same(self) -> None:
        same = main_table([replace(OWN, backbone="Qwen/Qwen3-30B-A3B")], "all")

        assert cell(same, "LogLin").paper == 1479 / 1992
        assert cell(same, "LogLin, τ = 0").paper is None

    def test_what_was_not_asked_for_has_no_cell(self) -> None:
        table = OWN_TABLES["main_all"]
        titles = [c.title for c, found in zip(table.columns, table.rows[0].cells, strict=True) if found is None]

        assert titles == ["Informed dictator", "ACH"]
        assert all(found is None for found in OWN_TABLES["calibration_calibrated_class_bias"].rows[0].cells)

    def test_gains_are_counted_in_cases(self) -> None:
        found = cell(OWN_TABLES["calibration_calibrated"], "MinJS", group="Disagree")

        before, after = (OWN.correct[f"minjs@{name}"]["disagree"].correct for name in ("reverse", "calibrated"))
        assert (found.correct, found.of) == (after - before, OWN.cases["disagree"])

    def test_the_grid_s_cells_are_shares_of_the_slice(self) -> None:
        cells = OWN_TABLES["grid"].rows[0].cells
        counts = [c.correct for c in cells if c is not None and c.correct is not None]

        assert sum(counts[:4]) == OWN.cases["all"]
        assert sum(counts[4:]) == OWN.cases["disagree"]

    def test_pi_counts_the_cases_in_which_both_are_wrong(self) -> None:
        found = cell(OWN_TABLES["pi_all"], "R")
        collision = OWN.collisions["alone@reverse"]["all"]

        assert collision.grid is not None
        assert (found.correct, found.of) == (collision.same_wrong, collision.grid.both_wrong)

    def test_the_other_anchors_orders_and_tau(self) -> None:
        tables = {table.name: table for table in further_tables([OWN])}

        assert set(tables) == {"js_rank_mean_forward", "js_rank_generic_forward", "tau_sweep"}
        assert cell(tables["tau_sweep"], "5").correct == OWN.correct["loglin"]["all"].correct

    @pytest.mark.parametrize("table", all_tables([OWN, *PAPER]) + further_tables([OWN]), ids=lambda table: table.name)
    def test_every_row_has_a_cell_for_every_column_and_is_plain_json(self, table: Table) -> None:
        assert table.rows
        assert all(len(row.cells) == len(table.columns) for row in table.rows)
        assert json.loads(json.dumps(asdict(table), allow_nan=False))["name"] == table.name


class TestUndefined:
    def test_on_a_slice_of_no_case_a_share_is_undefined_and_not_zero(self) -> None:
        world = hand_world([["a", "a"]], gold="a")
        numbers = numbers_of(evaluate(world.panel, world.sources, world.gold_N), "x")

        found = cell(main_table([numbers], "disagree"), "Plurality")

        assert (found.value, found.correct, found.of, found.comparison) == (None, 0, 0, None)

    def test_of_no_backbone_there_are_no_rows(self) -> None:
        assert all(not table.rows for table in all_tables([]))

    def test_a_run_without_gold_labels(self) -> None:
        world = random_world(1, cases=4)
        numbers = numbers_of(evaluate(world.panel, world.sources, np.full(4, -1)), "x")

        assert all(c is None or c.value is None for c in calibration_table([numbers]).rows[0].cells)
        assert all(c is None or c.value is None for table in all_tables([numbers]) for c in table.rows[0].cells)

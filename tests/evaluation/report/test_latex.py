"""LaTeX as a paper takes it in."""

import re

import pytest

from evaluation.report.latex import latex_table, latex_text
from evaluation.report.page import displayed
from evaluation.report.study import Report


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R_lik & 5 %", r"R\_lik \& 5 \%"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("−0.26, τ < 5", r"$-$0.26, $\tau$ $<$ 5"),
        ("two\n\nparagraphs", "two paragraphs"),
    ],
)
def test_any_text_is_printed_and_not_run(text: str, expected: str) -> None:
    assert latex_text(text) == expected


def test_every_row_of_every_table_has_the_same_width(report: Report) -> None:
    for name, table in displayed(report).items():
        text = latex_table(table)
        (columns,) = re.findall(r"\\begin\{tabular\}\{(l+r+)\}", text)
        rows = [line for line in text.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}, name


def test_the_best_is_bold_and_the_runner_up_underlined(report: Report) -> None:
    text = latex_table(displayed(report)["main_all"])
    assert r"\textbf{" in text.split(r"\midrule")[1]
    assert r"\underline{" in text
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5} \cmidrule(lr){6-12}" in text


def test_the_notice_of_the_stand_in_is_in_the_caption(report: Report) -> None:
    assert r"\caption{[no model] " in latex_table(displayed(report)["main_all"], "no model")

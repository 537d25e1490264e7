"""The tables as LaTeX (booktabs), as a paper prints them: ours alone. Intervals and the paper's are in the CSV."""

import re

from evaluation.report.displays import DisplayCell, DisplayTable

_ESCAPED = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "\u2212": r"$-$", "–": "--",
    "τ": r"$\tau$", "φ": r"$\phi$", "π": r"$\pi$", "…": r"\ldots{}",
}  # fmt: skip
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPED)))


def latex_text(text: str) -> str:
    """Any text as LaTeX that prints it; line breaks and other controls are spaces."""
    return _SPECIAL.sub(lambda found: _ESCAPED[found[0]], " ".join(text.split()))


def latex_table(table: DisplayTable, notice: str = "") -> str:
    """A floating table; needs `booktabs`. `notice` goes before the caption."""
    corner, width = len(table.corner), len(table.corner) + len(table.columns)
    caption = latex_text(" ".join(filter(None, (f"[{notice}]" if notice else "", table.title + ".", table.note))))
    lines = [
        r"\begin{table*}[t]", r"  \centering", r"  \scriptsize", r"  \setlength{\tabcolsep}{3pt}",
        rf"  \begin{{tabular}}{{{'l' * corner}{'r' * (width - corner)}}}", r"    \toprule",
    ]  # fmt: skip
    if table.groups:
        lines += _group_lines(table)
    lines += [f"    {_row([*map(_strong, table.corner), *map(latex_text, table.columns)])}", r"    \midrule"]
    for place, row in enumerate(table.rows):
        if row.span > 1 and place:
            lines.append(r"    \midrule")
        first = latex_text(row.headers[0]) if row.span else ""
        lines.append(f"    {_row([first, *map(latex_text, row.headers[1:]), *map(_cell, row.cells)])}")
    lines += [r"    \bottomrule", r"  \end{tabular}", rf"  \caption{{{caption}}}", rf"  \label{{tab:{table.name}}}"]
    return "\n".join([*lines, r"\end{table*}", ""])


def _group_lines(table: DisplayTable) -> list[str]:
    cells, rules, place = [""] * len(table.corner), [], len(table.corner) + 1
    for title, span in table.groups:
        cells.append(rf"\multicolumn{{{span}}}{{c}}{{{latex_text(title)}}}")
        rules.append(rf"\cmidrule(lr){{{place}-{place + span - 1}}}")
        place += span
    return [f"    {_row(cells)}", f"    {' '.join(rules)}"]


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _strong(text: str) -> str:
    return rf"\textbf{{{latex_text(text)}}}"


def _cell(cell: DisplayCell) -> str:
    text = latex_text(cell.text)
    if cell.mark:
        return rf"\{'textbf' if cell.mark == 'best' else 'underline'}{{{text}}}"
    return text

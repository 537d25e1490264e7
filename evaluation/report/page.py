"""The page: one HTML file that needs nothing else. Everything in it that comes from a run is escaped."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evaluation.claims import Verdict
from evaluation.report.displays import SLICE_TITLES, DisplayTable, display
from evaluation.report.figures import forest, rank_charts, risk_charts
from evaluation.report.headline import HEAD, headline
from evaluation.report.study import Report
from evaluation.report.summaries import comparison_table, pools_table, risk_table, spread_table
from evaluation.slices import SLICES

TEMPLATES = Path(__file__).with_name("templates")
STAND_IN_NOTICE = "stand-in: no language model; tests code and proves nothing about any model"
HOLDS = {True: "holds", False: "does not hold", None: "cannot be told"}


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim of the paper: on each of these runs, over all, and on the paper's own numbers."""

    says: str
    where: str
    scope: str
    runs: tuple[str, ...]
    overall: str
    paper: str


@cache
def page_environment(*folders: Path) -> Environment:
    """The parts of this page (`macros.html.j2`, `report.css`), and before them the templates of other folders."""
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.globals["notice"] = STAND_IN_NOTICE
    return environment


def render_page(report: Report, files: str = "") -> str:
    """The HTML; `files` is the name of the folder beside it, where there is one."""
    return (
        page_environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            css=(TEMPLATES / "report.css").read_text("utf-8"),
            files=files,
            headline=headline(report),
            forest=forest(report, (HEAD,)) if len(report.runs) > 1 else forest(report),
            every_head=forest(report) if len(report.runs) > 1 else None,
            slice_titles=SLICE_TITLES,
            tables=displayed(report),
            rank_charts=rank_charts(report),
            risk_charts=risk_charts(report),
            claims=claim_rows(report),
            domain=report.runs[0].manifest.domain,
        )
    )


def displayed(report: Report) -> dict[str, DisplayTable]:
    """Every table of the page by name."""
    own = [pools_table(report), *(comparison_table(report, name) for name in SLICES), risk_table(report)]
    spread = spread_table(report)
    if spread is not None:
        own.append(spread)
    return {
        table.name: table for table in [*(display(each, report) for each in (*report.tables, *report.further)), *own]
    }


def claim_rows(report: Report) -> list[ClaimRow]:
    return [_claim_row(ours, theirs) for ours, theirs in zip(report.verdicts, report.paper_verdicts, strict=True)]


def _claim_row(ours: Verdict, theirs: Verdict) -> ClaimRow:
    claim = ours.claim
    votes = tuple(HOLDS[vote] for _, vote in ours.by_backbone)
    return ClaimRow(claim.says, claim.where, claim.scope, votes, HOLDS[ours.holds], HOLDS[theirs.holds])

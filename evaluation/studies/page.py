"""A study as one HTML file that needs nothing else, and the files beside it. Figures and tables are the report's."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluation.report.page import STAND_IN_NOTICE, TEMPLATES, page_environment
from evaluation.report.sheets import csv_text
from evaluation.studies.account import Account

FORMAT = 1
"""The version of the JSON document."""
_OWN = Path(__file__).with_name("templates")


def render_study(account: Account) -> str:
    """The page."""
    css = (TEMPLATES / "report.css").read_text("utf-8")
    return page_environment(_OWN).get_template("study.html.j2").render(account=account, css=css)


def study_files(account: Account) -> dict[str, str]:
    """The text of every file by its name: the page, a CSV for each sheet, everything as JSON."""
    return {
        f"{account.name}.html": render_study(account),
        f"{account.name}.json": json.dumps(document(account), ensure_ascii=False, allow_nan=False),
        **{f"{account.name}-{name}.csv": csv_text(rows) for name, rows in account.sheets.items()},
    }


def document(account: Account) -> dict[str, Any]:
    """Everything of the study as plain JSON, unrounded."""
    return {
        "format": FORMAT,
        "study": account.name,
        "stand_in": STAND_IN_NOTICE if account.stand_ins else None,
        "question": account.question,
        "answer": account.answer,
        "varied": list(account.varied),
        "limits": list(account.limits),
        "facts": dict(account.facts),
        "rows": {name: [dict(row) for row in rows] for name, rows in account.sheets.items()},
        "table": asdict(account.first),
    }

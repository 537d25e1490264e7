"""Judges: one more call that sees the case and the agents' answers, and decides (method.md, Electoral baselines).

A judge is a witness. Its reply is asked for beside the reverse path and stored in the panel; the aggregator of its
name reads it there, and asks nobody. Where it gave no usable verdict that aggregator is plurality; where it was told to
skip unanimous cases it decides them as plurality does, for their one label.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any

import numpy as np

from aggregators.electoral import plurality
from aggregators.panel import Panel
from aggregators.parameters import DEFAULTS, Parameters
from aggregators.verdict import MARKS, PARSER, Verdict, read_analysis, read_verdict
from domains.case import Case, Domain, digest
from domains.posterior import Posterior
from domains.prompts import load_prompt, text_digest
from domains.question import FORWARD_SAMPLING, Question
from domains.rendering import render_case, render_labels, shuffled
from domains.simplex import Array, Index, Mask
from domains.structured import closed, listed_posterior

LONGEST_REASONS = 1_500
"""Characters of an agent's reasons that a judge is shown."""

_FOLDER = Path(__file__).parent / "prompts"
_FRAME = load_prompt(_FOLDER / "judge.md")
_TEXT = {"type": "string"}


@dataclass(frozen=True, slots=True)
class Judge:
    """A way to judge: its heading and instructions, what its reply has besides the posterior, and how it is read."""

    title: str
    text: str
    members: Mapping[str, Any]
    read: Callable[[str, Domain], Verdict]

    @property
    def digest(self) -> str:
        """The hash of all that it is asked with besides the case, the labels and the answers."""
        return text_digest(f"{_FRAME.digest} {self.title} {self.text}")


def _instructions(name: str) -> str:
    return (_FOLDER / f"{name}.md").read_text("utf-8").strip()


JUDGES: Mapping[str, Judge] = MappingProxyType(
    {
        "informed_dictator": Judge(
            title="decide alone",
            text=_instructions("informed_dictator"),
            members={"reasoning": _TEXT},
            read=read_verdict,
        ),
        "ach": Judge(
            title="competing hypotheses",
            text=_instructions("ach"),
            members={
                "hypotheses": {"type": "array", "items": _TEXT},
                "matrix": {
                    "type": "array",
                    "items": closed(
                        {
                            "evidence": _TEXT,
                            "marks": {"type": "array", "items": {"type": "string", "enum": list(MARKS)}},
                        }
                    ),
                },
                "reasoning": _TEXT,
                "sensitivity": _TEXT,
            },
            read=read_analysis,
        ),
    }
)
"""The judges by name."""


def judge_question(
    name: str, domain: Domain, case: Case, ballots: Mapping[str, Posterior], seed: str
) -> Question[Verdict]:
    """What a judge is asked about a case. `ballots` are the usable agents' answers by the agents' names, `seed` is the
    case's: the agents stand in an order that it shuffles, whatever order they come in, and go by letters.

    System text, case and answers are the same for every judge, so that a provider's prefix cache can serve them.

    Raises:
        KeyError: no judge has that name.
        ValueError: there is no answer to judge.
    """
    judge = JUDGES[name]
    if not ballots:
        raise ValueError("a judge needs at least one agent's answer")
    nouns = {"case_noun": domain.case_noun, "label_noun": domain.label_noun}
    heard = [ballots[agent] for agent in shuffled(sorted(ballots), seed)]
    messages = _FRAME.messages(
        **nouns,
        description=domain.description or domain.title,
        labels=render_labels(domain),
        label_count=str(len(domain.labels)),
        top_k=str(domain.top_k),
        case=render_case(domain, case),
        answers=_render_answers(domain, heard),
        title=judge.title,
        instructions=Template(judge.text).substitute(nouns),
    )
    return Question(
        name=name,
        messages=messages,
        sampling=FORWARD_SAMPLING,
        schema=closed({**judge.members, "posterior": listed_posterior(domain)}),
        parse=lambda text: judge.read(text, domain),
        versions={"prompt": judge.digest, "parser": PARSER, "labels": domain.digest},
    )


def _render_answers(domain: Domain, heard: list[Posterior]) -> str:
    """Each answer as a delimited block of data.

    The marker carries digits of the answers' own hash, which no text inside them can know.
    """
    blocks = [_render_answer(domain, posterior) for posterior in heard]
    mark = digest(blocks)[:12]
    return "\n\n".join(
        f"--- begin answer of {letter} {mark} ---\n{block}\n--- end answer of {letter} {mark} ---"
        for letter, block in zip(_letters(len(blocks)), blocks, strict=True)
    )


def _render_answer(domain: Domain, posterior: Posterior) -> str:
    listed = zip(posterior.label_M, posterior.mass_M, strict=True)
    masses = "\n".join(f"- {domain.label_names[label]}: {mass:.3f}" for label, mass in listed)
    reasons = " ".join(posterior.reasoning.split())
    if len(reasons) > LONGEST_REASONS:
        reasons = reasons[:LONGEST_REASONS].rsplit(" ", 1)[0] + " [cut]"
    return f"{masses}\nReasons: {reasons or 'none given'}"


def _letters(count: int) -> list[str]:
    """Agent A, Agent B, …, and numbers where letters do not suffice."""
    return [f"Agent {chr(ord('A') + place) if count <= 26 else place + 1}" for place in range(count)]


def informed_dictator(panel: Panel, _: Parameters) -> Array:
    """The posterior of a judge that has read the case and the agents' answers [N, L].

    Plurality where it gave none.

    Raises:
        LookupError: the judge was not asked.
    """
    return _verdict_or_plurality("informed_dictator", panel)


def ach(panel: Panel, _: Parameters) -> Array:
    """The posterior of a judge that holds the evidence against competing hypotheses (ACH) [N, L].

    Plurality where it gave none.

    Raises:
        LookupError: the judge was not asked.
    """
    return _verdict_or_plurality("ach", panel)


def verdict_top_N(name: str, panel: Panel) -> Index:
    """The label that a judge put first; -1 where it gave no usable verdict.

    Raises:
        LookupError: the panel has no verdicts of that judge.
    """
    verdicts = panel.verdicts_of(name)
    return np.where(verdicts.usable_N, verdicts.place_NL.argmin(axis=-1), -1)


def skipped_N(name: str, panel: Panel) -> Mask:
    """The unanimous cases that a judge was not asked about [N]: the agents' one top-1 is its decision, as asked.

    Raises:
        LookupError: the panel has no verdicts of that judge.
    """
    return ~panel.verdicts_of(name).asked_N & panel.unanimous_N


def fallback_N(name: str, panel: Panel) -> Mask:
    """The cases in which plurality stands in for a judge that gave no usable verdict [N].

    Raises:
        LookupError: the panel has no verdicts of that judge.
    """
    return ~panel.verdicts_of(name).usable_N & ~skipped_N(name, panel)


def _verdict_or_plurality(name: str, panel: Panel) -> Array:
    verdicts = panel.verdicts_of(name)
    return np.where(verdicts.usable_N[:, None], verdicts.posterior_NL, plurality(panel, DEFAULTS))

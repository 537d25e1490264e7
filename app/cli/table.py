"""A decision as people read it in a terminal."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from app.asking import Outcome
from app.schemas.decide import AgentAnswer, Decision, JudgeAnswer
from domains.posterior import Posterior

MARKS: Mapping[str, str] = MappingProxyType(
    {"good": "[green]ok[/green]", "note": "[yellow]note[/yellow]", "bad": "[red]BAD[/red]", "unknown": "[dim]?[/dim]"}
)
"""How a check of the doctor stands, in words that do without colours."""


def arrived(agent: str, outcome: Outcome[Posterior], names: Sequence[str], seconds: float) -> Text:
    """A line for an agent that has just answered, or failed, so many seconds after it was asked."""
    posterior = outcome.value
    if posterior is None:
        failure = outcome.failure
        why = str(failure) if failure else "no answer"
        return Text.assemble(f"{agent:<12}  ", (f"failed: {why}", "red"), (f"  {seconds:.1f} s", "dim"))
    said = f"{names[posterior.label_M[0]]} {posterior.mass_M[0]:.2f}"
    kept = ", from the reply store" if outcome.answers[-1].cached else ""
    return Text.assemble(f"{agent:<12}  {said}", (f"  {seconds:.1f} s{kept}", "dim"))


def print_decision(decision: Decision, console: Console) -> None:
    """Print who said what, how far from the anchor, and what was decided."""
    console.print(Group(*_headline(decision)))
    console.print(_agents(decision))
    console.print(Group(*_footer(decision)))


def _headline(decision: Decision) -> list[Text]:
    label = decision.label or "no label: ask a person"
    mass = f"  {decision.distribution.get(label, 0.0):.0%}" if decision.label else ""
    return [
        Text.assemble((label, "bold"), mass, f"  by {decision.aggregator}, margin {decision.confidence.margin:.2f}")
    ]


def _agents(decision: Decision) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("agent")
    table.add_column("top-1", overflow="fold")
    for name in ("mass", "JS", "rank", "weight"):
        table.add_column(name, justify="right", no_wrap=True)
    for agent in sorted(decision.agents, key=lambda a: (a.rank is None, a.rank or 0)):
        table.add_row(*_row(agent))
    if decision.anchor is not None and decision.anchor.distribution:
        top, mass = next(iter(decision.anchor.distribution.items()))
        table.add_section()
        table.add_row(f"anchor: {escape(decision.anchor.name)}", escape(top), f"{mass:.2f}", "", "", "")
    for judge in decision.judges:
        table.add_row(f"judge: {judge.judge}", *_verdict(judge), "", "", "")
    return table


def _verdict(judge: JudgeAnswer) -> tuple[str, str]:
    if judge.top is None or judge.posterior is None:
        return "skipped: unanimous" if judge.status == "skipped" else f"failed: {judge.cause}", ""
    return escape(judge.top), f"{judge.posterior[judge.top]:.2f}"


def _row(agent: AgentAnswer) -> tuple[str, ...]:
    if agent.top is None or agent.posterior is None:
        return escape(agent.agent), f"failed: {agent.cause}", "", "", "", ""
    return (
        escape(agent.agent),
        escape(agent.top),
        f"{agent.posterior[agent.top]:.2f}",
        "" if agent.js is None else f"{agent.js:.4f}",
        "" if agent.rank is None else str(agent.rank),
        "" if agent.weight is None else f"{agent.weight:.3f}",
    )


def _footer(decision: Decision) -> list[Text]:
    lines = [Text(f"degraded: {', '.join(decision.degraded)}", style="yellow")] if decision.degraded else []
    usage = decision.usage
    lines.append(Text(f"{usage.calls} calls, {decision.timing_ms.total:.0f} ms, model {decision.model}", style="dim"))
    if decision.stand_in:
        lines.append(
            Text("The answers came from the stand-in, which is no language model: this shows the machinery, no skill.")
        )
    return lines

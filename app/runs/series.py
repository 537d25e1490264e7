"""Several backbones one after another: a run each, in folders side by side, under one budget."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from app.runs.evaluation import Order, estimate_all, prepare
from app.runs.folder import RunFolder
from app.runs.journal import open_journal
from app.runs.money import Estimate, together
from app.settings import Settings
from domains.errors import BadInput
from evaluation.manifest import MANIFEST_FILE, read_manifest


@dataclass(frozen=True)
class Part:
    """The run of one backbone: what it is, and where it lies."""

    order: Order
    folder: Path

    @property
    def backbone(self) -> str:
        """Which backbone it asks."""
        return self.order.asked.backbone


def parts_of(order: Order, backbones: Sequence[str], out: Path) -> list[Part]:
    """A run for each of these backbones; of a single one in `out` itself, else each in a folder of its name there.

    Raises:
        BadInput: no backbone is named, or `out` holds the run of a single one.
    """
    if not backbones:
        raise BadInput.at("--backbone", "name at least one")
    orders = [replace(order, asked=replace(order.asked, backbone=name)) for name in backbones]
    if len(orders) == 1:
        return [Part(orders[0], out)]
    if (out / MANIFEST_FILE).exists():
        raise BadInput.at(str(out), "holds the run of one backbone; name another folder for several")
    return [Part(order, out / quote(name, safe="")) for order, name in zip(orders, backbones, strict=True)]


async def estimate_series(parts: Sequence[Part], settings: Settings) -> Estimate:
    """What all these runs would take, with nothing sent: tokens are unknown.

    Raises:
        BadInput: one of them could not be begun; see `app.runs.evaluation`.
    """
    estimates = {}
    for part in parts:
        async with prepare(part.order, settings) as prepared:
            estimates[part.backbone] = await estimate_all(prepared)
    return together(estimates)


async def within_budget(part: Part, parts: Sequence[Part]) -> Order:
    """The order of one of the runs with what the others have left of the budget of all.

    Raises:
        BadInput: what another run spent is not known, so that no budget can be kept.
    """
    budget = part.order.budget_usd
    if budget is None:
        return part.order
    for other in parts:
        if other.folder != part.folder:
            spent = await _spent(RunFolder(other.folder))
            if spent is None:
                raise BadInput.at("--budget", f"cannot be kept: what the run of {other.backbone} spent is not known")
            budget -= spent
    return replace(part.order, budget_usd=max(0.0, budget))


async def _spent(folder: RunFolder) -> float | None:
    """What the run in a folder spent up to now; nothing where none was begun."""
    if not folder.begun:
        return 0.0
    async with open_journal(folder.journal, read_manifest(folder.path).id) as journal:
        return await journal.spent()

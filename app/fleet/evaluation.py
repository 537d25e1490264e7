"""`crosspath evaluate` in a folder whose run is a fleet's: this process is one more that works on it, and can ask again
what failed."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from app.fleet.index import open_queue, queue_url
from app.fleet.results import open_fleet_results
from app.fleet.run import open_patient_replies
from app.runs.evaluation import Prepared, over_its_table, stopped_by_signals, work_off
from app.runs.folder import RunFolder
from app.runs.manifest import describe_run
from app.runs.means import log_failures
from app.runs.money import open_purse
from app.runs.run import Run, backbones, resolve_run
from app.settings import Settings
from domains.errors import BadInput
from evaluation.metrics import Summary, summarise
from evaluation.runs import load_run


async def run_in_fleet_folder(
    prepared: Prepared, folder: RunFolder, settings: Settings, say: Callable[[str], None]
) -> Summary:
    """Run what is not done yet, beside the workers if there are any, and write the results.

    Raises:
        Halted: it was stopped before the end, and can be resumed.
        BadInput: no Redis is named, there is a budget, or the run was begun with other settings.
    """
    prepared = await over_its_table(prepared, folder.path)
    order, dataset = prepared.order, prepared.dataset
    if order.budget_usd is not None:
        raise BadInput.at("--budget", "cannot be kept: a fleet works on this run, and nobody counts what all spend")
    manifest = folder.resume(describe_run(prepared.inquiry, dataset))
    async with (
        open_queue(queue_url(settings)) as redis,
        open_patient_replies(settings) as replies,
        open_fleet_results(folder.path, manifest.id, redis) as results,
    ):
        inquiry = resolve_run(order.asked, prepared.council, None if replies is None else lambda _: replies)
        inquiry = replace(inquiry, purse=open_purse(None, backbones(inquiry)))
        with stopped_by_signals(say) as halt:
            await work_off(prepared, Run(dataset, inquiry, results, halt), log_failures, say)
        await folder.write_results(results, len(dataset))
    return await asyncio.to_thread(lambda: summarise(load_run(folder.path).records()))

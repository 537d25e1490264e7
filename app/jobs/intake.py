"""`POST /batch`: a request becomes a job's folder, or a refusal that leaves nothing behind."""

from collections.abc import Iterable
from typing import Any

from fastapi import Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams

from app.access.caller import caller_of
from app.bodies import arriving, media_type, parse_body, read_body
from app.jobs.case_intake import CaseIntake
from app.jobs.jobs import Jobs
from app.jobs.schemas import BatchBody, BatchCase, BatchOptions, Job
from app.jobs.store import JobFolder
from app.problems import Refused, member_path, validation_faults
from domains.case import Domain
from domains.errors import BadInput, Fault, NotFound

JSON_LIMIT = 64_000_000
"""Bytes of a JSON body, which is read as a whole; NDJSON has the operator's limit."""
JSON, NDJSON = "application/json", "application/x-ndjson"
MOST_FAULTS = 100
"""Faults of one body that are told."""

_PARAMS = ("tau", "w_r", "elicitation", "skip_unanimous")
_LISTS = ("aggregators", "agents")
_NUMBERS = ("tau", "w_r", "budget_usd")


async def take_in(request: Request, jobs: Jobs) -> Job:
    """The job that a request makes.

    Raises:
        Refused: 400, 408, 413 or 415; 503 if too many jobs wait or the cases cannot be stored.
        BadInput: everything in it that cannot be used.
    """
    if media_type(request) not in (JSON, NDJSON):
        raise Refused(415, f"send the body as {JSON} or {NDJSON}")
    jobs.check_room()
    try:
        with jobs.store.staging() as staged:
            if media_type(request) == NDJSON:
                return await _take_lines(request, jobs, staged)
            content = await read_body(request, JSON_LIMIT)
            body = await run_in_threadpool(parse_body, BatchBody, content)
            return await _take_body(body, jobs, staged, caller_of(request).owner)
    except BadInput as bad:
        if len(bad.faults) <= MOST_FAULTS:
            raise
        more = Fault("", f"there are {len(bad.faults) - MOST_FAULTS} more")
        raise BadInput([*bad.faults[:MOST_FAULTS], more]) from None
    except OSError as error:
        raise Refused(503, f"the cases cannot be stored ({error.strerror})") from None


async def _take_lines(request: Request, jobs: Jobs, staged: JobFolder) -> Job:
    owner = caller_of(request).owner
    options = read_options(request.query_params)
    domain = jobs.check(options)
    with CaseIntake(staged.cases, domain, jobs.upload_limit) as intake:
        async for chunk in arriving(request):
            await run_in_threadpool(intake.feed, chunk)
        cases = await run_in_threadpool(intake.finish)
    return jobs.submit(staged, options, domain.name, owner, cases=cases)


async def _take_body(body: BatchBody, jobs: Jobs, staged: JobFolder, owner: str) -> Job:
    options = BatchOptions.model_validate(body.model_dump(exclude={"cases", "dataset"}))
    if (body.cases is None) == (body.dataset is None):
        raise BadInput.at("cases", "give either cases or the name of a dataset")
    if body.dataset is not None:
        domain = jobs.check(_of_dataset(options, body.dataset, jobs))
        return jobs.submit(staged, options, domain.name, owner, dataset=body.dataset)
    domain = jobs.check(options)
    cases = await run_in_threadpool(_write, body.cases or (), domain, staged)
    return jobs.submit(staged, options, domain.name, owner, cases=cases)


def _write(cases: Iterable[BatchCase], domain: Domain, staged: JobFolder) -> int:
    with CaseIntake(staged.cases, domain, JSON_LIMIT) as intake:
        for place, case in enumerate(cases):
            intake.add(case, f"cases.{place}")
        return intake.finish()


def _of_dataset(options: BatchOptions, dataset: str, jobs: Jobs) -> BatchOptions:
    """The options for the cases of a pack, which are its own domain's."""
    if not jobs.has_cases(dataset):
        raise NotFound.at("dataset", "there is no such pack, or it has no cases")
    if options.domain not in (None, dataset):
        raise BadInput.at("domain", "the cases of this dataset are of another domain")
    return options.model_copy(update={"domain": dataset})


def read_options(query: QueryParams) -> BatchOptions:
    """The options in a query: lists as repeated or comma-separated names, `anchor=null` for none.

    Raises:
        BadInput: everything that is wrong, by the parameter's name.
    """
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for name in query:
        stated = query.getlist(name)
        if name in _LISTS:
            values[name] = [part for text in stated for part in text.split(",")]
        elif len(stated) > 1:
            faults.append(Fault(member_path([name]), "given twice"))
        else:
            values[name] = _value(name, stated[0])
    params = {name: values.pop(name) for name in _PARAMS if name in values}
    try:
        options = BatchOptions.model_validate(values | ({"params": params} if params else {}))
    except ValidationError as error:
        faults += [Fault(f.where.removeprefix("params."), f.problem) for f in validation_faults(error)]
        raise BadInput(faults) from None
    if faults:
        raise BadInput(faults)
    return options


def _value(name: str, text: str) -> str | float | bool | None:
    if name == "anchor" and text == "null":
        return None
    if name == "skip_unanimous":
        return {"true": True, "false": False}.get(text, text)
    if name not in _NUMBERS:
        return text
    try:
        return float(text)
    except ValueError:
        return text  # the schema says that it is no number

"""Runs in this process, over a model server on a real socket that answers at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.endpoint import Prices
from app.runs.evaluation import Order, prepare, run_in_folder
from app.runs.folder import open_run_folder
from app.runs.run import Asked
from app.settings import DeclaredBackbone, Settings, load_settings
from benchmarks.chaos import runs
from benchmarks.chaos.instant_model import InstantModel, serving
from evaluation.metrics import Summary
from evaluation.records import Record
from evaluation.runs import load_run

PRICES = Prices(input=1.0, output=1.0)


@dataclass
class Bench:
    """A data set, the folder that it is run into, and the model that is asked."""

    folder: Path
    cases: Path
    domain: str
    model: InstantModel
    said: list[str] = field(default_factory=list)

    @property
    def run(self) -> Path:
        """The run's folder."""
        return self.folder / "run"

    @property
    def requests(self) -> int:
        """How many requests the model was sent."""
        return self.model.requests.total()

    @property
    def results(self) -> bytes:
        """The results as they stand in the file."""
        return (self.run / "results.ndjson").read_bytes()

    def settings(self, **changes: Any) -> Settings:
        """Settings under which the model is the default backbone."""
        backbone = DeclaredBackbone(base_url=self.model.base_url, model="instant", prices=PRICES)
        return load_settings(data_dir=self.folder / "data", **({"backbones": {"default": backbone}} | changes))

    async def evaluate(self, settings: Settings | None = None, into: str = "run", **order: Any) -> Summary:
        """Begin or resume a run; `order` has members of `Order` and of `Asked`."""
        asked = {name: order.pop(name) for name in list(order) if name in Asked.__dataclass_fields__}
        wanted = Order(Asked(**({"domain": self.domain} | asked)), str(self.cases), **order)
        settings = settings or self.settings()
        async with prepare(wanted, settings) as prepared:
            with open_run_folder(self.folder / into) as folder:
                return await run_in_folder(prepared, folder, settings, self.said.append)

    def records(self, into: str = "run") -> list[Record]:
        """The records of a finished run."""
        return list(load_run(self.folder / into).records())


@contextmanager
def bench(folder: Path, cases: int) -> Iterator[Bench]:
    """A bench with so many cases."""
    path = folder / "cases.ndjson"
    domain = runs.write_cases(path, cases)
    with serving() as model:
        yield Bench(folder, path, domain, model)


def asks(agent: str) -> bytes:
    """What marks the requests of an agent or of an elicitation step."""
    return b'"name":"' + agent.encode() + b'"'

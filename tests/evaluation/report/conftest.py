from pathlib import Path

import pytest

from evaluation.report.study import Report
from tests.evaluation.report.written import records, reported, write


@pytest.fixture(scope="package")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two backbones: one that the paper has, one that is no language model."""
    folder: Path = tmp_path_factory.mktemp("runs")
    return reported(
        write(folder / "qwen", records(seed=1), model="Qwen/Qwen3-30B-A3B"),
        write(folder / "stand-in", records(seed=2), model="stand-in-llama"),
    )

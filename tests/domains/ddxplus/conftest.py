from pathlib import Path

import pytest

from domains.ddxplus.release import Release, load_release
from domains.ddxplus.vocabulary import Vocabulary, build_vocabulary
from domains.ddxplus.wording import Wording, load_wording
from tests.domains.ddxplus.tiny_release import write_release

REAL = Path(__file__).parents[3].parent / "shared/ddxplus"


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder with the real files, where it lies beside the checkout."""
    if not (REAL / "release_test_patients.csv").is_file():
        pytest.skip("the real DDXPlus files are not beside this checkout")
    return REAL


@pytest.fixture(scope="session")
def wording() -> Wording:
    return load_wording()


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_release(tmp_path / "tiny")


@pytest.fixture
def release(tiny: Path) -> Release:
    return load_release(tiny)


@pytest.fixture
def vocabulary(release: Release, wording: Wording) -> Vocabulary:
    return build_vocabulary(release, wording)

import gc
import sys

import pytest

from app.interpreter import TURN_S, settled_interpreter


def test_what_exists_is_left_out_of_collections_while_the_block_lasts() -> None:
    with settled_interpreter():
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


def test_threads_take_turns_soon_while_the_block_lasts() -> None:
    before = sys.getswitchinterval()
    with settled_interpreter():
        assert sys.getswitchinterval() == pytest.approx(TURN_S)
    assert sys.getswitchinterval() == before

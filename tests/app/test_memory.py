import gc

from app.memory import settled_memory


def test_what_exists_is_left_out_of_collections_while_the_block_lasts() -> None:
    with settled_memory():
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0

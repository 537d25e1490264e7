"""What lives as long as the service is not looked through for garbage again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 20_000
"""Objects that are made between two looks at the youngest: one decision makes several thousand, nearly all of which go
when it is answered, and Python's own 700 looks at them a dozen times while they are in use."""


@contextmanager
def settled_memory() -> Iterator[None]:
    """Leave what exists now out of garbage collections, while the block lasts.

    Some 140,000 objects (modules, models, packs) stay for ever; a full collection that visits them all stops the event
    loop for 0.1 s and more, and every answer under way comes late by that.
    """
    gc.collect()
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

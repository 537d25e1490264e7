"""How Python is set up in a process whose event loop is not to be held up: the service, a run, a worker."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 20_000
"""Objects that are made between two looks at the youngest: one decision makes several thousand, nearly all of which go
when it is answered, and Python's own 700 looks at them a dozen times while they are in use."""
TURN_S = 0.001
"""How long a thread keeps the interpreter while another waits for it. Python's own 5 ms are what the event loop loses
to the thread that writes records, and every trip to a thread of SQLite to the loop, each time they meet."""


@contextmanager
def settled_interpreter() -> Iterator[None]:
    """Leave what exists now out of garbage collections and let threads take turns soon, while the block lasts.

    Some 140,000 objects (modules, models, packs) stay for ever; a full collection that visits them all stops the event
    loop for 0.1 s and more, and every answer under way comes late by that.
    """
    gc.collect()
    gc.freeze()
    threshold, turn_s = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(YOUNG, *threshold[1:])
    sys.setswitchinterval(TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(turn_s)
        gc.set_threshold(*threshold)
        gc.unfreeze()

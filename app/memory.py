"""What lives as long as the service is not looked through for garbage again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def settled_memory() -> Iterator[None]:
    """Leave what exists now out of garbage collections, while the block lasts.

    Some 140,000 objects (modules, models, packs) stay for ever; a full collection that visits them all stops the event
    loop for 0.1 s and more, and every answer under way comes late by that.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

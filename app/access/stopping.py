"""How the service stops: first it says that it will, then it takes no more, then it waits for what is under way."""

from collections.abc import Callable

Called = Callable[[], None]


class Cut:
    """Comes once, and calls whoever is to know of it."""

    def __init__(self) -> None:
        self._come = False
        self._called: set[Called] = set()

    def set(self) -> None:
        """It comes."""
        self._come = True
        for called in tuple(self._called):
            called()

    def calls(self, called: Called) -> None:
        """Have this called when it comes: at once if it has come."""
        self._called.add(called)
        if self._come:
            called()

    def forgets(self, called: Called) -> None:
        """Have it not called any more."""
        self._called.discard(called)


class Stopping:
    """Whether the service is to stop (`begun`), and whether it waits no longer for what is under way (`cut`)."""

    def __init__(self) -> None:
        self.begun = False
        self.cut = Cut()

    def begin(self) -> None:
        """It is no longer ready."""
        self.begun = True

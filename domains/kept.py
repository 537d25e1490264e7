"""Properties that are worked out once."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class kept(Generic[Value]):
    """A property that is worked out when it is first asked for and kept with its object.

    `functools.cached_property` without the lock that Python 3.11 takes at every first time (3.12 takes none), which
    costs as much as a sum over a case's panel, and a panel has ten of them. Two threads may both work it out.
    """

    def __init__(self, work_out: Callable[[Any], Value]) -> None:
        self.work_out = work_out
        self.name = work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object, owner: type) -> Self | Value:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.work_out(instance)
        return value

from dataclasses import dataclass, field

from domains.kept import kept


@dataclass(frozen=True)
class Sums:
    numbers: tuple[int, ...]
    asked: list[str] = field(default_factory=list)

    @kept
    def total(self) -> int:
        """Of all numbers."""
        self.asked.append("total")
        return sum(self.numbers)


def test_is_worked_out_once() -> None:
    sums = Sums((1, 2))
    assert [sums.total, sums.total] == [3, 3]
    assert sums.asked == ["total"]


def test_is_each_object_s_own() -> None:
    assert [Sums((1, 2)).total, Sums((4,)).total] == [3, 4]


def test_keeps_its_docstring() -> None:
    assert Sums.total.__doc__ == "Of all numbers."

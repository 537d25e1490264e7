"""Profiles of a pack: the sizes of a backbone's errors, fitted to that pack's knowledge (`simulation.toml`)."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from domains.errors import BadInput, Fault
from domains.files import Toml, read_toml
from simulator.world import Profile

SIMULATION_FILE = "simulation.toml"
MODEST = Profile(know=3.0, private=2.0, tilt=1.5, sharp=0.35, back=2.8, rho=0.5, seed=0)
"""What a pack without the file is answered with: about the middle of the profiles fitted on DDXPlus."""
_SHARES = ("rho", "hidden", "context", "floor")


@dataclass(frozen=True, slots=True)
class Profiles:
    """A pack's profiles by name, and which of them the model without a suffix has."""

    default: str
    by_name: Mapping[str, Profile]


def load_profiles(pack_path: Path) -> Profiles:
    """The profiles of the pack in this folder; one named `default` if it has no `simulation.toml`.

    Raises:
        BadInput: every fault of the file.
    """
    path = pack_path / SIMULATION_FILE
    if not path.exists():
        return Profiles("default", {"default": MODEST})
    faults: list[Fault] = []
    file = read_toml(path, faults)
    profiles = None if file is None else _read(file, faults)
    if profiles is None or faults:
        raise BadInput(faults)
    return profiles


def _read(file: Toml, faults: list[Fault]) -> Profiles | None:
    tables, default = file.values.get("profiles"), file.values.get("default")
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        faults.append(Fault(file.name, "has no table [profiles.NAME]"))
        return None
    if not isinstance(default, str) or default not in tables:
        faults.append(Fault(file.where("default"), "`default` is not the name of one of the profiles"))
        return None
    profiles = {}
    for name, table in tables.items():
        problems = list(_problems(table))
        faults.extend(Fault(f"{file.name}: [profiles.{name}]", problem) for problem in problems)
        if not problems:
            profiles[name] = Profile(**table)
    return Profiles(default, profiles)


def _problems(table: Mapping[str, Any]) -> list[str]:
    """What is wrong with one profile's numbers."""
    known = {field.name: field for field in fields(Profile)}
    problems = [f"the key {key!r} is unknown" for key in sorted(set(table) - set(known))]
    required = {name for name, field in known.items() if field.default is MISSING}
    problems += [f"the key {key!r} is missing" for key in sorted(required - set(table))]
    for key in sorted(set(table) & set(known)):
        value, whole = table[key], key == "seed"
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not 0 <= value < 1e6:
            problems.append(f"{key!r} is no {'whole ' if whole else ''}number of 0 or more")
        elif key in _SHARES and value > 1:
            problems.append(f"{key!r} is more than 1")
    return problems

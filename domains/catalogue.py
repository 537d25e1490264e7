"""Domain packs: folders of files, checked by line, loaded as `Domain`. The format is in api.md, "Files".

Nothing here knows any one pack; a new domain is a new folder.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from domains.case import Case, Domain, Label
from domains.casefile import read_case, read_each
from domains.errors import BadInput, Fault, NotFound
from domains.files import collapse, numbered_lines
from domains.knowledge import load_knowledge
from domains.pack import DOMAIN_FILE, FINDINGS_FILE, LABELS_FILE, MOST_NAMED, check_simulation, read_pack

BUILT_IN = Path(__file__).parent / "packs"
CASES_FILE, SIMULATION_FILE = "cases.ndjson", "simulation.toml"
AD_HOC: Final = "ad-hoc"
"""Name of the domain that a request brings as a bare list of labels."""


class Catalogue:
    """The domains that can be asked for by name: the built-in packs and those of one more folder.

    Packs are read when they are first asked for, and kept. A pack of the extra folder stands in for a built-in one of
    the same name. One that is broken hides no other: its faults are told when it is asked for.

    Raises:
        BadInput: the extra folder does not exist.
    """

    def __init__(self, extra: Path | None = None, built_in: Path = BUILT_IN) -> None:
        if extra is not None and not extra.is_dir():
            raise BadInput.at(str(extra), "there is no such folder of domain packs")
        self._folders = (built_in,) if extra is None else (built_in, extra)
        self._loaded: dict[str, Domain] = {}

    def names(self) -> tuple[str, ...]:
        """The names of all packs, sorted."""
        return tuple(sorted(self._paths()))

    def path(self, name: str) -> Path:
        """The folder of a pack.

        Raises:
            NotFound: there is no pack of this name.
        """
        paths = self._paths()
        if name not in paths:
            raise NotFound.at("domain", f"there is no such domain; there are: {', '.join(sorted(paths)) or 'none'}")
        return paths[name]

    def get(self, name: str) -> Domain:
        """A domain by its name.

        Raises:
            NotFound: there is no pack of this name.
            BadInput: the pack is broken; every fault with file and line.
        """
        if name not in self._loaded:
            self._loaded[name] = load_domain(self.path(name))
        return self._loaded[name]

    def is_loaded(self, name: str) -> bool:
        """Whether `get` has this domain without reading its pack."""
        return name in self._loaded

    def sound(self) -> list[Domain]:
        """Every domain whose pack is not broken."""
        domains = []
        for name in self.names():
            with suppress(BadInput):
                domains.append(self.get(name))
        return domains

    def _paths(self) -> dict[str, Path]:
        return {path.name: path for folder in self._folders for path in sorted(folder.iterdir()) if _is_pack(path)}


def _is_pack(path: Path) -> bool:
    return any((path / name).is_file() for name in (DOMAIN_FILE, LABELS_FILE, FINDINGS_FILE))


def load_domain(path: Path) -> Domain:
    """The domain of the pack in this folder.

    Raises:
        BadInput: the pack is broken; every fault with file and line. Its cases, knowledge and simulation profiles
            are not looked at here: `check_domain` does.
    """
    faults: list[Fault] = []
    domain = read_pack(path, faults)
    if faults or domain is None:
        raise BadInput(faults)
    return domain


def check_domain(path: Path) -> list[Fault]:
    """Everything that is wrong with the pack in this folder, its optional files included; empty if it is sound."""
    faults: list[Fault] = []
    domain = read_pack(path, faults)
    if (path / SIMULATION_FILE).exists():
        check_simulation(path / SIMULATION_FILE, faults)
    if domain is None:
        return faults
    try:
        load_knowledge(path, domain)
    except BadInput as bad:
        faults.extend(bad.faults)
    if (path / CASES_FILE).exists():
        for _ in read_each(path / CASES_FILE, lambda line, where: read_case(line, where, domain), faults):
            pass  # read for its faults; a file of cases need not fit into memory
    return faults


def load_cases(path: Path, domain: Domain) -> Iterator[Case]:
    """The cases of an NDJSON file, one by one; one without an id is called after its file and line.

    Raises:
        BadInput: a line that is no case of the domain, or the file is missing.
    """
    for number, line in numbered_lines(path):
        yield read_case(line, f"{path.name}:{number}", domain)


def ad_hoc_domain(labels: Sequence[str]) -> Domain:
    """A domain of bare labels, for a request that brings its own closed set.

    Raises:
        BadInput: fewer than two labels, an empty one, the same one twice.
    """
    names = [collapse(label) for label in labels]
    faults = [] if len(names) > 1 else [Fault("labels", "a closed set has at least two labels")]
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if not name:
            faults.append(Fault(f"labels.{place}", "is empty"))
        elif first.setdefault(name, place) != place:
            faults.append(Fault(f"labels.{place}", f"is the same label as labels.{first[name]}"))
    if faults:
        raise BadInput(faults)
    return Domain(
        name=AD_HOC,
        title="Labels given with the request",
        case_noun="case",
        label_noun="label",
        labels=tuple(Label(name) for name in names),
        top_k=min(MOST_NAMED, len(names)),
        description="The labels were given together with the case. Judge by what their names mean.",
    )

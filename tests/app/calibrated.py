"""Calibrations made by hand for the default domain and the stand-in."""

import datetime
from pathlib import Path
from typing import Any

from anchor.artefact import Calibration, Record, origin_of, save_calibration
from anchor.ordinal import DEFAULT_MAPS
from domains.case import Domain
from domains.catalogue import Catalogue


def default_domain() -> Domain:
    """The domain that is decided in where a body names none."""
    catalogue = Catalogue()
    return catalogue.get(catalogue.names()[0])


def calibration(**changes: Any) -> Calibration:
    """A calibration that changes nothing, for what the service asks by default; `changes` replace members, those of its
    origin included."""
    domain = default_domain()
    origin = origin_of(domain, "stand-in", "per_case")
    of_origin = {name: changes.pop(name) for name in list(changes) if name in type(origin).model_fields}
    members: dict[str, Any] = {
        "format": 1,
        "made": datetime.date(2026, 3, 1),
        "version": "0",
        "origin": origin.model_copy(update=of_origin),
        "record": Record(
            cases=9,
            whole=9,
            covered=8,
            nll_before=1.0,
            nll_after=1.0,
            nll_held_out=None,
            ridge=1.0,
            bias_ridge=1.0,
            slope=0.0,
            at_bound=(),
        ),
        "maps": DEFAULT_MAPS,
        "gamma": 0.0,
        "marginal": {name: (1 + place) / 100 for place, name in enumerate(domain.label_names)},
        "bias": None,
        "training": "",
    }
    return Calibration(**(members | changes))


def keep(data_dir: Path, name: str, **changes: Any) -> Path:
    """Puts one into a data folder."""
    return save_calibration(data_dir / "calibrations", name, calibration(**changes))

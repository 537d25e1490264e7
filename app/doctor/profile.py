"""What was found of a backbone, kept as `DATA_DIR/backbones/NAME.json` for the client to begin with."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.endpoint import BackboneSettings
from agents.wire import DROPPABLE, SAMPLING, Dialect, Structured
from app import __version__
from app.doctor.verdicts import Diagnosis, State
from domains.errors import BadInput

_log = structlog.get_logger(__name__)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class KeptCheck(_Part):
    """One check, as it was printed."""

    name: str
    state: State
    found: str
    advice: str


class KeptDialect(_Part):
    """The dialect that the client begins with."""

    structured: Structured
    limit_name: Literal["max_tokens", "max_completion_tokens"]
    dropped: list[Literal["temperature", "top_p", "seed"]]


class Profile(_Part):
    """A backbone as it was found on a day. It is of use only where `base_url` and `model` are still those declared."""

    format: Literal[1] = 1
    examined: str
    service: str
    base_url: str
    model: str
    dialect: KeptDialect
    checks: list[KeptCheck]

    def fits(self, settings: BackboneSettings) -> bool:
        """Whether it was made of what is declared now."""
        return (self.base_url, self.model) == (settings.base_url, settings.model)

    def start(self, settings: BackboneSettings) -> Dialect:
        """The dialect to begin with. A mode that is declared is not overridden, and sampling parameters are sent unless
        the settings allow to leave them out."""
        mode = self.dialect.structured if settings.structured == "auto" else settings.structured
        allowed = DROPPABLE if settings.allow_sampling_deviation else DROPPABLE - SAMPLING
        return Dialect(mode, self.dialect.limit_name, frozenset(self.dialect.dropped) & allowed)


def starting_dialect(path: Path, backbone: str, settings: BackboneSettings) -> Dialect | None:
    """What the client begins with: as the profile in this file says. None without one; one that is of another endpoint
    or model, or cannot be read, is ignored and said."""
    try:
        profile = read_profile(path)
    except BadInput as error:
        _log.warning("profile_ignored", backbone=backbone, reason=str(error))
        return None
    if profile is None:
        return None
    if not profile.fits(settings):
        reason = "base_url or model is another now; run `crosspath doctor` again"
        _log.warning("profile_ignored", backbone=backbone, reason=reason)
        return None
    return profile.start(settings)


def profile_path(folder: Path, backbone: str) -> Path:
    """Where the profile of a backbone lies."""
    return folder / f"{quote(backbone, safe='')}.json"


def make_profile(diagnosis: Diagnosis, dialect: Dialect, settings: BackboneSettings) -> Profile:
    """What was found, as it is kept."""
    return Profile(
        examined=datetime.now(UTC).isoformat(timespec="seconds"),
        service=__version__,
        base_url=settings.base_url,
        model=settings.model,
        dialect=KeptDialect.model_validate(
            {
                "structured": dialect.structured,
                "limit_name": dialect.limit_name,
                "dropped": sorted(dialect.dropped),
            }
        ),
        checks=[KeptCheck(name=c.name, state=c.state, found=c.found, advice=c.advice) for c in diagnosis.checks],
    )


def write_profile(path: Path, profile: Profile) -> None:
    """Put it in the place of an earlier one, at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    fresh.write_text(profile.model_dump_json(indent=2) + "\n", "utf-8")
    fresh.replace(path)


def read_profile(path: Path) -> Profile | None:
    """The profile in this file; None if there is no such file.

    Raises:
        BadInput: it is none, or of another version.
    """
    try:
        return Profile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput.at(str(path), f"cannot be read ({error.strerror})") from None
    except ValidationError:
        raise BadInput.at(str(path), "is no profile of this version; run `crosspath doctor` again") from None

"""What the operator sets: environment variables `CROSSPATH_*` and an optional `crosspath.toml` (environment wins)."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from agents.endpoint import BackboneSettings, Prices
from domains.errors import BadInput, Fault

STAND_IN_URL = "http://stand-in.invalid/v1"
"""The stand-in mounted in this process: an address that no network can reach."""


def _default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "crosspath"


Days = Annotated[float, Field(gt=0, le=36_500)]
DAYS_ON_LOOPBACK = 7.0
"""How long decision records are kept where nobody said so and only this machine can ask."""


def _listed(value: Any) -> Any:
    """A list as an environment variable states it: with commas."""
    return tuple(part for part in value.replace(",", " ").split()) if isinstance(value, str) else value


class DeclaredBackbone(BackboneSettings):
    """A `[backbones.NAME]` table: a backbone whose key is named by its environment variable, never written down."""

    api_key_env: str | None = None


class Settings(BaseSettings):
    """Everything an operator can set, as docs/settings.md lists it. Frozen, read once at the edge."""

    model_config = SettingsConfigDict(
        env_prefix="CROSSPATH_",
        env_file=".env",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        env_ignore_empty=True,
    )

    data_dir: Path = Field(default_factory=_default_data_dir)
    domain: str | None = None
    domains_dir: Path | None = None
    redis_url: SecretStr | None = None
    llm_base_url: str | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    backbones: dict[str, DeclaredBackbone] = Field(default_factory=dict)
    replies: int = Field(default=30, ge=0, description="days that replies are kept; 0 = in memory only")
    records: Literal["off"] | Days | None = Field(
        default=None, description="days that decision records are kept, or `off`; by default 7 on loopback, else off"
    )
    quorum: int = Field(default=3, ge=1)
    deadline_s: float = Field(default=120.0, gt=0)
    whole_set: int = Field(default=16, ge=0, description="largest label set that is elicited beside the agents")
    elicitation: Literal["per_case", "table"] = Field(
        default="table", description="where POST /decide takes ranks from, unless it is told: a table that use fills"
    )
    batch: Literal["local", "fleet"] = Field(default="local", description="who works on batches: it, or workers")
    fleet_redis_url: SecretStr | None = Field(default=None, description="Redis of the workers' queue; else redis_url")
    batch_jobs: int = Field(default=2, ge=1, description="batch jobs that run at a time; the others wait")
    batch_waiting: int = Field(default=1000, ge=1, description="batch jobs that may run and wait; more are refused")
    batch_bytes: int = Field(default=4_000_000_000, ge=1, description="largest upload of cases for a batch job")
    calibration_any_backbone: bool = Field(
        default=False, description="a calibration may be used with another backbone than it was fitted for"
    )
    batch_drain_s: float = Field(
        default=5.0, ge=0, description="seconds that cases in flight get when the service stops; less than its killer's"
    )
    allow_open: bool = Field(default=False, description="it may be reached from outside although no key is asked for")
    api_keys: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = Field(
        default=(), description="keys that are accepted, each as `owner:scopes:hash` (crosspath key new), with commas"
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = Field(
        default=(), description="host names it goes by, with commas; `*`: any"
    )
    decisions_at_once: int = Field(default=256, ge=1, description="decisions in flight; the others wait in a queue")
    decisions_waiting: int = Field(default=256, ge=0, description="decisions that may wait; more are told to come back")
    aggregations_at_once: int = Field(default=2, ge=1, description="POST /aggregate worked on at a time")
    aggregations_waiting: int = Field(default=16, ge=0, description="POST /aggregate that may wait")
    owner_requests_per_minute: float | None = Field(
        default=None, gt=0, description="POST requests a minute of one owner of keys, in this process"
    )
    owner_concurrency: int | None = Field(default=None, ge=1, description="POST requests of one owner at a time")
    stop_notice_s: float = Field(
        default=0.5, ge=0, description="seconds after SIGTERM that requests are still taken while it says `not ready`"
    )
    stop_s: float = Field(default=20.0, ge=0, description="seconds that requests in flight get after that")
    log_level: str = "info"

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, level: str) -> str:
        if level.lower() not in {"debug", "info", "warning", "error", "critical"}:
            raise ValueError("must be debug, info, warning, error or critical")
        return level.lower()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then `.env`, then the TOML file."""
        named = os.environ.get("CROSSPATH_CONFIG")
        if named and not Path(named).is_file():
            raise BadInput.at("CROSSPATH_CONFIG", "names a file that is not there")
        toml = TomlConfigSettingsSource(settings_cls, toml_file=Path(named or "crosspath.toml"))
        return init_settings, env_settings, dotenv_settings, toml

    @property
    def replies_file(self) -> Path:
        """The embedded reply store."""
        return self.data_dir / "replies.sqlite"

    @property
    def answers_file(self) -> Path:
        """Answers that are given again to the same idempotency key."""
        return self.data_dir / "answers.sqlite"

    @property
    def tables_file(self) -> Path:
        """The embedded elicitation tables."""
        return self.data_dir / "tables.sqlite"

    @property
    def records_file(self) -> Path:
        """The decision records."""
        return self.data_dir / "records.sqlite"

    @property
    def records_days(self) -> float | None:
        """Days that decision records are kept; None: there are none."""
        return None if self.records == "off" else self.records

    def on_loopback(self) -> "Settings":
        """The same for a process that only this machine can reach."""
        return self if self.records is not None else self.model_copy(update={"records": DAYS_ON_LOOPBACK})

    @property
    def calibrations_dir(self) -> Path:
        """A folder of calibrations, which are asked for as the anchors `calibrated:NAME`."""
        return self.data_dir / "calibrations"

    @property
    def profiles_dir(self) -> Path:
        """A folder of what `crosspath doctor` found, a file for each backbone."""
        return self.data_dir / "backbones"

    @property
    def personas_dir(self) -> Path:
        """A folder of the operator's own personas."""
        return self.data_dir / "personas"

    def declared_backbones(self) -> dict[str, BackboneSettings]:
        """Every backbone by name, keys filled in. `default` is the `CROSSPATH_LLM_*` one, else the first declared,
        else the stand-in in this process.

        Raises:
            BadInput: a key's variable is not set, or only half of `CROSSPATH_LLM_*` is.
        """
        declared = {name: _with_key(name, table) for name, table in self.backbones.items()}
        if self.llm_base_url or self.llm_model:
            if not (self.llm_base_url and self.llm_model):
                raise BadInput.at("CROSSPATH_LLM_*", "set both CROSSPATH_LLM_BASE_URL and CROSSPATH_LLM_MODEL")
            if "default" in declared:
                raise BadInput.at("CROSSPATH_LLM_*", "the settings file declares a backbone `default` already")
            declared["default"] = BackboneSettings(
                base_url=self.llm_base_url, model=self.llm_model, api_key=self.llm_api_key
            )
        if not declared:
            declared["default"] = BackboneSettings(
                base_url=STAND_IN_URL, model="stand-in", prices=Prices(input=0, output=0)
            )
        if "default" not in declared:
            declared["default"] = next(iter(declared.values()))
        return declared


def _with_key(name: str, table: DeclaredBackbone) -> BackboneSettings:
    values = {field: getattr(table, field) for field in BackboneSettings.model_fields}
    if table.api_key_env is not None:
        key = os.environ.get(table.api_key_env)
        if not key:
            raise BadInput.at(f"backbones.{name}.api_key_env", f"the variable {table.api_key_env} is not set")
        values["api_key"] = SecretStr(key)
    return BackboneSettings(**values)


def load_settings(**overrides: Any) -> Settings:
    """The settings as the environment and the file give them.

    Raises:
        BadInput: naming each setting that is wrong (never its value).
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        faults = [
            Fault(".".join(map(str, problem["loc"])), problem["msg"])
            for problem in error.errors(include_input=False, include_context=False, include_url=False)
        ]
        raise BadInput(faults) from None
    except ValueError as error:  # the TOML file is no TOML
        raise BadInput.at("crosspath.toml", str(error)) from None

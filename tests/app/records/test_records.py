"""Decision records: what is kept, for whom, for how long; and the same numbers again from the record alone."""

import json
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aggregators import AGGREGATORS, JUDGES
from app.records.keeping import DAY_S
from app.records.record import DecisionRecord, decode
from app.records.replaying import replay
from app.settings import Settings, load_settings
from domains.errors import BadInput
from tests.app.calibrated import default_domain, keep
from tests.app.conftest import Service, running
from tests.processes import crosspath

Body = dict[str, Any]
ASKED: dict[str, Body] = {
    "as it is": {"explain": True},
    "compared with all, judges too": {"compare": [*AGGREGATORS]},
    "from the table": {"params": {"elicitation": "table", "tau": 2, "w_r": 1}},
    "no anchor": {"aggregator": "range", "anchor": None},
}
JUDGED = {"aggregator": "loglin", "compare": ["minjs", "borda", "ach", "random"], "abstain_below": {"margin": 0.05}}
EVIDENCE_STEP, CONTEXT_STEP = "# Findings\\n", "# Background facts"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data", records=7)


async def record_of(service: Service, **asked: Any) -> tuple[Body, DecisionRecord]:
    """A decision as it was answered, and its record."""
    answer = (await service.decide(**asked)).json()
    kept = await service.client.get(f"/decisions/{answer['id']}")
    assert kept.status_code == 200
    return answer, decode(kept.content, "the answer")


class TestWhatIsKept:
    async def test_the_answer_is_in_it_as_it_was_given(self, service: Service, case: Body) -> None:
        answer, record = await record_of(service, case=case)

        assert record.answer.model_dump(mode="json") == answer

    @pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
    async def test_every_member_of_a_record_is_written_as_it_is_read(
        self, service: Service, case: Body, asked: Body
    ) -> None:
        answer = (await service.decide(case=case, **asked)).json()
        kept = (await service.client.get(f"/decisions/{answer['id']}")).content

        assert decode(kept, "the answer").model_dump_json().encode() == kept

    async def test_every_reply_is_named_by_the_digest_it_is_stored_under(
        self, service: Service, settings: Settings, case: Body
    ) -> None:
        _, record = await record_of(service, case=case, compare=["ach"])

        with closing(sqlite3.connect(settings.replies_file)) as connection:
            stored = {digest for (digest,) in connection.execute("SELECT digest FROM replies")}
        asked = {*(agent.agent for agent in record.asked.agents), "evidence", "context", "judge:ach"}
        assert {reply.asked for reply in record.replies} == asked
        assert {reply.digest for reply in record.replies} == stored

    async def test_the_text_of_replies_stays_in_the_reply_store(
        self, service: Service, settings: Settings, case: Body
    ) -> None:
        _, record = await record_of(service, case=case)

        with closing(sqlite3.connect(settings.replies_file)) as connection:
            (told,) = connection.execute("SELECT reply FROM replies LIMIT 1").fetchone()
        assert json.loads(told)["text"] not in record.model_dump_json()

    async def test_the_file_is_its_owners_only(self, service: Service, settings: Settings, case: Body) -> None:
        await record_of(service, case=case)

        assert stat.S_IMODE(settings.records_file.stat().st_mode) == 0o600

    async def test_no_record_is_kept_where_nobody_asked_for_it(self, tmp_path: Path, case: Body) -> None:
        settings = load_settings(data_dir=tmp_path / "data")
        async with running(settings) as service:
            answer = (await service.decide(case=case)).json()
            kept = await service.client.get(f"/decisions/{answer['id']}")

        assert kept.status_code == 404
        assert not settings.records_file.exists()

    @pytest.mark.parametrize(("stated", "days"), [("off", None), ("7", 7.0), ("0.5", 0.5)])
    def test_the_setting_is_off_or_days(self, stated: str, days: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CROSSPATH_RECORDS", stated)

        assert load_settings().records_days == days
        assert load_settings().on_loopback().records_days == days

    def test_on_loopback_a_week_is_kept_unless_somebody_said_otherwise(self) -> None:
        assert load_settings().records_days is None
        assert load_settings().on_loopback().records_days == 7.0

    @pytest.mark.parametrize("stated", ["0", "-1", "on", "nan"])
    def test_anything_else_is_refused(self, stated: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CROSSPATH_RECORDS", stated)

        with pytest.raises(BadInput):
            load_settings()


class TestReplay:
    @pytest.mark.parametrize(
        "asked",
        [
            JUDGED,
            {"aggregator": "minjs", "anchor": "generic_forward"},
            {"aggregator": "fwdjs", "anchor": "mean_forward", "params": {"tau": 2.0}},
            {"aggregator": "range", "anchor": None},
            {"aggregator": "loglin", "anchor": "reverse_prior", "params": {"w_r": 0.5}},
        ],
        ids=["judged", "generic", "mean", "no anchor", "prior"],
    )
    async def test_the_numbers_are_the_same_to_the_last_bit(self, service: Service, case: Body, asked: Body) -> None:
        _, record = await record_of(service, case=case, **asked)

        assert replay(record).differences == ()

    @pytest.mark.parametrize(
        "lost", [("tree of thought",), (EVIDENCE_STEP,), (EVIDENCE_STEP, CONTEXT_STEP)], ids=["agent", "step", "both"]
    )
    async def test_a_degraded_decision_is_replayed_alike(
        self, settings: Settings, case: Body, lost: tuple[str, ...]
    ) -> None:
        async with running(settings, lambda body: any(text in body for text in lost)) as service:
            answer, record = await record_of(service, case=case, **JUDGED)

        assert answer["status"] == "degraded"
        assert replay(record).differences == ()

    @pytest.mark.parametrize("judge", JUDGES)
    async def test_a_judge_that_was_skipped_is_replayed_alike(self, service: Service, judge: str) -> None:
        exemplar = default_domain().exemplars[1].case  # all five agents of the stand-in agree on it
        unanimous = {"evidence": [{"id": o.finding.id, "present": o.present} for o in exemplar.evidence]}
        skipping = {"aggregator": judge, "compare": ["plurality", "loglin"], "params": {"skip_unanimous": True}}

        answer, record = await record_of(service, case=unanimous, **skipping)

        assert [each["status"] for each in answer["judges"]] == ["skipped"]
        assert replay(record).differences == ()

    async def test_a_calibrated_anchor_is_replayed_though_its_file_is_another_now(
        self, service: Service, settings: Settings, case: Body
    ) -> None:
        keep(settings.data_dir, "mine", bias={name: 0.1 * n for n, name in enumerate(default_domain().label_names)})
        answer, record = await record_of(service, case=case, anchor="calibrated:mine", compare=["minjs", "fwdjs"])
        keep(settings.data_dir, "mine")

        assert answer["anchor"]["calibration"] is not None
        assert replay(record).differences == ()

    async def test_the_numbers_are_those_that_were_answered(self, service: Service, case: Body) -> None:
        answer, record = await record_of(service, case=case)
        numbers, labels = replay(record).numbers, record.asked.labels

        shown = {label: mass for label, mass in zip(labels, numbers.decisions["loglin"].distribution, strict=True)}
        assert {label: mass for label, mass in shown.items() if mass} == answer["distribution"]
        assert numbers.divergence == [agent["js"] for agent in answer["agents"]]
        assert numbers.weight == [agent["weight"] for agent in answer["agents"]]

    async def test_a_number_that_was_changed_is_found(self, service: Service, case: Body) -> None:
        _, record = await record_of(service, case=case)
        changed = json.loads(record.model_dump_json())
        changed["numbers"]["margin"] *= 1 + 2e-16

        assert replay(decode(json.dumps(changed), "changed")).differences == ("margin",)

    async def test_a_posterior_that_was_changed_is_found(self, service: Service, case: Body) -> None:
        _, record = await record_of(service, case=case)
        changed = json.loads(record.model_dump_json())
        posterior = changed["said"]["posteriors"]["cot"]
        posterior[next(iter(posterior))] *= 0.999

        assert replay(decode(json.dumps(changed), "changed")).differences

    async def test_a_record_that_contradicts_itself_is_no_traceback(self, service: Service, case: Body) -> None:
        _, record = await record_of(service, case=case)
        changed = json.loads(record.model_dump_json())
        changed["asked"]["labels"] = changed["asked"]["labels"][:-1]

        with pytest.raises(BadInput, match="contradicts itself"):
            replay(decode(json.dumps(changed), "changed"))


class TestForgetting:
    async def test_a_record_whose_days_are_over_is_not_shown(
        self, service: Service, settings: Settings, case: Body
    ) -> None:
        answer, _ = await record_of(service, case=case)
        age(settings, days=7.1)

        assert (await service.client.get(f"/decisions/{answer['id']}")).status_code == 404

    async def test_a_service_that_starts_deletes_it(self, settings: Settings, case: Body) -> None:
        async with running(settings) as first:
            await record_of(first, case=case)
        age(settings, days=7.1)
        async with running(settings):
            pass  # what it began before it stopped it has done

        assert count(settings) == 0

    async def test_purge_forgets_records_and_replies(self, settings: Settings, case: Body) -> None:
        async with running(settings) as service:
            await record_of(service, case=case)
        purged = crosspath("purge", "--all", CROSSPATH_DATA_DIR=str(settings.data_dir))

        assert purged.stdout.splitlines() == ["decision records: 1 forgotten", "replies: 7 forgotten"]
        assert count(settings) == 0

    async def test_purge_takes_an_age(self, settings: Settings, case: Body) -> None:
        async with running(settings) as service:
            await record_of(service, case=case)
        purged = crosspath("purge", "--older-than", "1", CROSSPATH_DATA_DIR=str(settings.data_dir))

        assert purged.stdout.splitlines() == ["decision records: 0 forgotten", "replies: 0 forgotten"]


class TestLosing:
    @pytest.fixture
    async def unwritable(self, settings: Settings) -> AsyncIterator[Service]:
        settings.records_file.mkdir(parents=True)  # where the file should be
        async with running(settings) as service:
            yield service

    async def test_a_record_that_cannot_be_written_fails_no_decision_and_is_counted(
        self, unwritable: Service, case: Body
    ) -> None:
        answer = await unwritable.decide(case=case)
        shown = await unwritable.client.get(f"/decisions/{answer.json()['id']}")
        metrics = (await unwritable.client.get("/metrics")).text

        assert answer.json()["status"] == "complete"
        assert shown.status_code == 503
        assert "crosspath_records_lost_total 1.0" in metrics


class TestCommand:
    async def test_replay_takes_an_id_or_a_file(self, settings: Settings, case: Body, tmp_path: Path) -> None:
        async with running(settings) as service:
            answer, record = await record_of(service, case=case)
        (tmp_path / "record.json").write_text(record.model_dump_json(), "utf-8")

        for named in (answer["id"], str(tmp_path / "record.json")):
            told = crosspath("replay", named, CROSSPATH_DATA_DIR=str(settings.data_dir))
            assert told.returncode == 0
            assert "the same numbers to the last bit" in told.stdout

    @pytest.mark.parametrize("named", ["0" * 32, "nowhere.json"])
    def test_what_is_not_there_is_one_clear_line(self, named: str, tmp_path: Path) -> None:
        told = crosspath("replay", named, CROSSPATH_DATA_DIR=str(tmp_path))

        assert (told.returncode, len(told.stderr.splitlines())) == (2, 1)


def age(settings: Settings, days: float) -> None:
    with closing(sqlite3.connect(settings.records_file, isolation_level=None)) as connection:
        connection.execute("UPDATE records SET created = created - ?", (days * DAY_S,))


def count(settings: Settings) -> int:
    with closing(sqlite3.connect(settings.records_file)) as connection:
        found: int = connection.execute("SELECT count(*) FROM records").fetchone()[0]
    return found

"""What becomes of receives that named no source."""

from __future__ import annotations

import pickle
from pathlib import Path

import idlewave
import pytest
from click.testing import CliRunner
from command_runs import run
from idlewave.cli import cli
from idlewave.errors import UsageError
from trace_files import Message, write_messages

MESSAGES = [Message(10, 3, 8, wildcard=True), Message(20, 4, 16), Message(30, 5, 32, wildcard=True)]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_messages(tmp_path / "trace", MESSAGES)


def test_they_take_the_recorded_message_unless_they_are_to_stay_wild(trace: Path) -> None:
    recorded = idlewave.Schedule.from_trace(trace)
    wild = idlewave.Schedule.from_trace(trace, wildcards="keep")
    assert recorded.to_goal().count("recv 8b from 0 tag 3") == 1
    assert wild.to_goal().count("recv 8b from -1 tag 3") == 1
    assert wild.to_goal().count("recv 16b from 0 tag 4") == 1, "a source and a tag that were named stay"
    machine = idlewave.Machine.preset("odin")
    assert idlewave.simulate(wild, machine).max_finish == idlewave.simulate(recorded, machine).max_finish


def test_their_number_is_known_in_every_copy(trace: Path) -> None:
    schedule = idlewave.Schedule.from_trace(trace)
    assert schedule.wildcard_receives == 2
    assert schedule.extrapolate(6).wildcard_receives == 6
    assert idlewave.Schedule.pattern("barrier", ranks=4).wildcard_receives == 0


def test_a_schedule_is_made_alike_in_another_process(trace: Path) -> None:
    wild = idlewave.Schedule.from_trace(trace, wildcards="keep")
    assert pickle.loads(pickle.dumps(wild)).to_goal() == wild.to_goal()


def test_the_provenance_tells_them_apart(trace: Path) -> None:
    recorded = idlewave.Schedule.from_trace(trace).provenance
    wild = idlewave.Schedule.from_trace(trace, wildcards="keep").provenance
    assert recorded.digests != wild.digests
    assert wild.options["wildcards"] == "keep"


@pytest.mark.parametrize(
    ("command", "note"),
    [
        (["schedule"], "2 receives name no source; each takes the message that it took in the traced run"),
        (["schedule", "--wildcards", "keep"], "each takes the first with its tag that comes"),
        (["simulate", "-m", "odin"], "2 receives name no source"),
        (["simulate", "-m", "odin", "--ranks", "8"], "8 receives name no source"),
        (["study", "-m", "odin", "--seeds", "1"], "2 receives name no source"),
    ],
)
def test_commands_say_how_many_there_are(trace: Path, command: list[str], note: str) -> None:
    name, *options = command
    written = ["-o", str(trace.parent / "study.csv")] if name == "study" else []
    done = CliRunner().invoke(cli, [name, str(trace), *options, *written])
    assert done.exit_code == 0, done.output
    assert note in " ".join(done.stderr.split())


def test_the_option_is_refused_for_a_pattern_and_a_file(trace: Path) -> None:
    file = trace.parent / "x.goal"
    idlewave.Schedule.from_trace(trace).save(file)
    for source, why in (
        (["barrier", "--ranks", "4"], "--wildcards belongs to a trace, not to a pattern"),
        ([str(file)], "messages, not calls: --wildcards has no meaning"),
    ):
        done = run("schedule", *source, "--wildcards", "keep")
        assert done.returncode == 2
        assert why in done.stderr


def test_another_word_is_refused(trace: Path) -> None:
    with pytest.raises(UsageError, match="There are recorded, keep"):
        idlewave.Schedule.from_trace(trace, wildcards="kept")  # type: ignore[arg-type]

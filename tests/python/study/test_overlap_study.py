"""`idlewave study overlap`: what a network that works by itself gives is what LogGOPS says."""

from __future__ import annotations

from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, Schedule, UsageError
from idlewave.formatting import plain
from idlewave.report.overlap_page import overlap_page, overlaps
from idlewave.studies.programs import ProgramSettings

US = 10**6
L, GAP, PER_BYTE = 5 * US, 2 * US, 3_000
MACHINE = Machine.from_toml(
    'name = "small"\n[network]\nL = "5us"\no = "1us"\ng = "2us"\nG = "3ns"\nO = "1ns"\nS = "inf"\n'
)
BYTES = 1001
WIRE = (BYTES - 1) * PER_BYTE
RECEIVER = f"rank 1 {{\nrecv {BYTES}b from 0\n}}\n"


def times(schedule: Schedule) -> dict[float | str, int]:
    """The times with each share of overheads, and those of the machine and of free messages."""
    table = idlewave.study.overlap(MACHINE, programs=[schedule], shares=(0, 0.5, 1))
    return {
        row["overheads"] if row["overheads"] != "share" else row["share"]: row["finish_ps"]
        for row in table.to_dict("records")
    }


def test_a_message_that_somebody_waits_for_loses_its_overheads_alone() -> None:
    """A message of k + 1 bytes takes 2o + L + max(kO, kG): copies are made while the bytes come."""
    found = times(Schedule.from_goal(f"num_ranks 2\nrank 0 {{\nsend {BYTES}b to 1\n}}\n{RECEIVER}"))
    assert found == {
        "free": 0,
        0.0: L + WIRE,
        0.5: GAP + L + WIRE,
        1.0: 2 * GAP + L + WIRE,
        "own": 2 * US + L + WIRE,
    }


def test_computation_beside_a_message_is_hidden_by_a_network_that_works_by_itself() -> None:
    """A rank sends, and computes as long as the message is on its way: with o = O = 0 that takes no more time, else it
    begins when the CPU has sent the bytes, at o + kO."""
    compute = L + WIRE
    send = f"rank 0 {{\ns: send {BYTES}b to 1\nc: calc {compute // 1000}\nc irequires s\n}}\n"
    found = times(Schedule.from_goal(f"num_ranks 2\n{send}{RECEIVER}"))
    assert found == {
        "free": compute,
        0.0: compute,
        0.5: (GAP + WIRE) // 2 + compute,
        1.0: GAP + WIRE + compute,
        "own": US + (BYTES - 1) * 1000 + compute,
    }


def test_slabs_that_are_sent_while_others_are_computed_can_be_hidden_and_packed_ones_not() -> None:
    table = idlewave.study.overlap("odin", programs=("slabs_two_sided", "packed_slabs_put"), ranks=(64,))
    potential = overlaps(table).set_index("program")["potential"]
    assert potential["slabs_two_sided"] > 0.3
    assert potential["packed_slabs_put"] < 0.1


def test_a_program_without_messages_has_nothing_to_hide() -> None:
    table = idlewave.study.overlap("odin", programs=[Schedule.pattern("compute", ranks=2, compute_ns=1000)])
    assert overlaps(table)["potential"].isna().all()
    assert [plain(text) for _, text in overlap_page(table).findings] == ["On 2 ranks messages take no time."]


def test_the_sentences_say_what_the_rows_say() -> None:
    table = idlewave.study.overlap("odin", programs=("halo2d",), ranks=(16,), settings=ProgramSettings(iterations=2))
    row = overlaps(table).iloc[0]
    said = [plain(text) for _, text in overlap_page(table).findings]
    assert f"takes away {100 * row['potential']:.0f} % of it" in said[0]
    assert row["full_ps"] <= row["own_ps"] <= row["none_ps"]
    assert "The machine as it is has" in said[0]


def test_the_command_takes_a_schedule_and_writes_table_and_page(tmp_path: Path) -> None:
    Schedule.pattern("halo2d", ranks=4, bytes=8000, compute_ns=10_000).save(tmp_path / "own.goal")
    words = ["study", "overlap", "own.goal", "--shares", "0.5", "-o", "out"]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "own.goal: On 4 ranks" in first.printed
    assert (tmp_path / "out/report.html").exists()
    rows = pd.read_parquet(tmp_path / "out/study.parquet")
    assert list(rows["overheads"]) == ["own", "free", "share", "share", "share"]
    assert list(rows["share"])[2:] == [0.0, 0.5, 1.0]


def test_shares_beyond_one_are_refused() -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        idlewave.study.overlap("odin", shares=(2.0,))

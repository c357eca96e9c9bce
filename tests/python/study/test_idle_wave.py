"""`idlewave study idle-wave`: waves go as fast as the closed forms say, and are absorbed where there is slack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import idlewave
import numpy as np
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import ExponentialLength, Machine, MixedNoise, Noise, PoissonNoise, Schedule, UsageError, mpi
from idlewave.formatting import plain
from idlewave.report.idle_wave_page import beside_published, idle_wave_page
from idlewave.studies.idle_wave import OwnProgram, WavePlan, idle_wave_cases, idle_wave_row, ranks_of
from idlewave.studies.one_off_delays import Delay, parse_delays, with_delays
from idlewave.studies.wave_measurement import NEVER
from tracer_support import open_mpi

US = 10**6
L, O = 5 * US, US  # noqa: E741 - the model's names
COMPUTE = 300 * US
MIDDLE, RANKS, ITERATIONS = 8, 17, 14
LENGTH = 4 * COMPUTE
DELAYS = f"{MIDDLE}@450us+{LENGTH // US}us"
LINE = ("one-way", "nonblocking", "sendrecv")
CONTROL = L + 2 * O
"""A message of a byte, from the sender's CPU to the end of the receive."""


def machine(per_byte: str = "0ns") -> Machine:
    network = f'[network]\nL = "5us"\no = "1us"\ng = "1us"\nG = "{per_byte}"\nO = "0ns"\nS = "inf"\n'
    return Machine.from_toml(f'name = "small"\n{network}')


def plan(pattern: str, protocol: str, partners: int = 1, **more: Any) -> WavePlan:
    given = {
        "ranks": RANKS, "iterations": ITERATIONS, "compute_ps": COMPUTE, "size": 1, "delays": DELAYS, "noise_shares": ()
    }  # fmt: skip
    return WavePlan(patterns=[pattern], protocols=[protocol], partners=[partners], **given | more)


def wave(pattern: str, protocol: str = "eager", partners: int = 1, on: Machine | None = None, **more: Any) -> Any:
    return idle_wave_row(idle_wave_cases(on or machine(), plan(pattern, protocol, partners, **more))[0])


def steps(row: Any) -> tuple[float, float]:
    return row["up_step"], row["down_step"]


def arrivals(row: Any) -> list[int]:
    return list(ranks_of(row)["arrival_ps"])


OWN = "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 8b from 0\n}\n"


@pytest.mark.parametrize("size", [1, 1001])
def test_a_one_way_wave_takes_an_iteration_a_rank_and_goes_with_the_messages(size: int) -> None:
    """The messages of all ranks leave together, and each is there one hop and (s − 1) G later."""
    row = wave("one-way", on=machine("2ns"), size=size)
    iteration = COMPUTE + CONTROL + (size - 1) * 2000
    assert row["iteration_ps"] == iteration
    at = np.roll(arrivals(row), -MIDDLE)
    assert np.diff(at[1 : row["reached"] + 1]).tolist() == [iteration] * (row["reached"] - 1)
    assert set(at[row["reached"] + 1 :]) == {NEVER}, "the ranks below, which only the end of the program spares"
    assert row["reached"] == ITERATIONS - 1
    assert row["up_step"] == pytest.approx(1)
    assert row["speed"] == pytest.approx(1e12 / iteration)
    assert row["speed_r2"] == pytest.approx(1)
    assert row["down_reached"] == 0


def test_by_rendezvous_it_goes_against_the_messages_too_for_senders_wait_for_their_receivers() -> None:
    """Request, clearance and data take a hop each."""
    row = wave("one-way", "rendezvous")
    assert row["iteration_ps"] == COMPUTE + 3 * CONTROL
    assert steps(row) == (pytest.approx(1), pytest.approx(1))


@pytest.mark.parametrize("partners", [1, 2, 3])
def test_a_wave_of_partners_up_to_d_away_goes_d_ranks_an_iteration(partners: int) -> None:
    row = wave("nonblocking", partners=partners, ranks=25, delays=f"12@450us+{LENGTH // US}us")
    assert row["iteration_ps"] == COMPUTE + 2 * partners * O + L + O, "sends, the last latency, and its receive"
    at = np.array(arrivals(row))
    first = [at[12 + 1 + partners * step] for step in range(12 // partners)]
    assert np.diff(first).tolist() == [row["iteration_ps"]] * (len(first) - 1)
    assert steps(row) == (pytest.approx(partners, rel=0.02), pytest.approx(partners, rel=0.02))


def test_published_speeds_hold_and_nonblocking_rendezvous_is_slower_than_published() -> None:
    """σ = 2 of rendezvous both ways is that of two exchanges one after another: who sends in the second to a rank that
    waits in the first waits, too. Where both begin together, the receives are posted."""
    table = idlewave.study.idle_wave(
        machine(), WavePlan(ranks=42, iterations=24, compute_ps=COMPUTE, size=1, noise_shares=(), patterns=LINE)
    )
    compared = beside_published(table)
    assert len(compared) == 20
    slower = {(name, protocol) for name, protocol, *_, agrees in compared if agrees == "no"}
    assert slower == {("nonblocking", "rendezvous"), ("nonblocking, d = 2", "rendezvous")}
    assert [row[3] for row in compared if row[:2] == ("nonblocking", "rendezvous")] == [pytest.approx(1)] * 2
    assert ("sendrecv", "rendezvous", "up", pytest.approx(2, rel=0.02), 2, "yes") in compared


@pytest.mark.parametrize(("protocol", "hops"), [("eager", 2), ("rendezvous", 6)])
def test_exchanges_one_after_another_take_their_hops_one_after_another(protocol: str, hops: int) -> None:
    assert wave("sendrecv", protocol)["iteration_ps"] == COMPUTE + hops * CONTROL


def test_by_rendezvous_one_after_another_two_ranks_stop_in_an_iteration() -> None:
    """Six messages an iteration one after another; the second of the two ranks stops in the second exchange."""
    row = wave("sendrecv", "rendezvous")
    assert row["iteration_ps"] == COMPUTE + 6 * CONTROL
    gaps = np.diff(arrivals(row)[MIDDLE + 1 :]).tolist()
    assert gaps[::2] == [3 * CONTROL] * len(gaps[::2])
    assert gaps[1::2] == [COMPUTE + 3 * CONTROL] * len(gaps[1::2])


def test_what_is_sent_a_computation_ahead_absorbs_a_computation_a_rank() -> None:
    """A message is due an iteration after it was sent, and needs a hop: the rest is slack."""
    row = wave("overlap")
    late = ranks_of(row)["most_ps"].to_numpy()
    lost = row["iteration_ps"] - CONTROL
    assert row["iteration_ps"] == COMPUTE + 4 * O
    assert np.diff(late[MIDDLE : MIDDLE + 5]).tolist() == [-lost] * 4
    assert row["farthest"] == LENGTH // lost - 1, "where a tenth of the delay is left"
    assert wave("overlap", "rendezvous")["reached"] == RANKS - 1, "a request is not answered during a computation"


def test_ranks_that_wait_for_slower_ones_absorb_what_they_wait() -> None:
    """Every second rank waits, half of a computation but for the messages."""
    row = wave("uneven", ranks=16)
    last = ranks_of(row)["last_ps"].to_numpy()
    assert 0.9 < (last[MIDDLE + 2] - last[MIDDLE + 4]) / (COMPUTE / 2) < 1
    assert row["reached"] <= RANKS - 1
    assert row["decay_ps"] > 0.8 * COMPUTE / 4


def test_waves_that_meet_cancel_and_the_longer_delay_is_what_they_cost() -> None:
    both = wave("nonblocking", delays="8@450us+1200us,3@450us+600us")
    alone = wave("nonblocking", delays="8@450us+1200us")
    assert both["with_ps"] == alone["with_ps"]
    one_rank = wave("nonblocking", delays="8@450us+600us,8@2ms+600us")
    assert one_rank["with_ps"] - one_rank["without_ps"] == pytest.approx(1200 * US, rel=0.02), "of one rank they add up"


def test_a_collective_stops_all_ranks_at_once() -> None:
    row = wave("allreduce")
    at = ranks_of(row)
    spread = at.loc[at["distance"] > 0, "arrival_ps"]
    assert row["reached"] == RANKS - 1
    assert spread.max() - spread.min() < COMPUTE


def test_of_several_seeds_the_first_one_has_a_picture_whichever_it_is() -> None:
    noisy = idle_wave_cases(machine(), plan("nonblocking", "eager", noise_shares=(0.05,), seeds=2, seed=5))[1:]
    assert [(case.seed, bool(idle_wave_row(case)["picture"])) for case in noisy] == [(5, True), (6, False)]
    own = OwnProgram(Schedule.pattern("bcast", ranks=4), "0@0us+1us", seeds=2, seed=5)
    cases = idle_wave_cases(machine().with_noise(NOISES["random"]), own)
    assert [case.pictured for case in cases] == [True, True, False]


def test_a_slope_is_said_only_of_lines_that_explain_half_of_the_variance() -> None:
    table = idlewave.study.idle_wave(machine(), plan("nonblocking", "eager", noise_shares=(0.1,), seeds=3))
    noisy = table["noise"] > 0
    for fit, said in ((0.51, True), (0.49, False)):
        page = idle_wave_page(table.assign(decay_r2=np.where(noisy, fit, 0.0), decay_ps=1e6))
        [*texts] = [text for topic, text in page.findings if topic.startswith("decay")]
        assert bool(texts) is said
        assert not any("without noise" in text for text in texts)


def test_noise_makes_waves_decay() -> None:
    more = {"noise_shares": (0.02, 0.1), "seeds": 4, "delays": None, "iterations": 20, "ranks": 24}
    rows = [
        idle_wave_row(case) | {"noise": case.noise}
        for case in idle_wave_cases(machine(), plan("nonblocking", "eager", **more))
    ]
    decays = pd.DataFrame(rows[:1] + rows[2:]).groupby("noise")["decay_ps"].median()
    assert decays[0.0] < US
    assert 5 * US < decays[0.02] < decays[0.1] / 2


def test_the_machine_s_own_noise_is_among_the_levels() -> None:
    noisy = machine().with_noise(NOISES["recorded"])
    cases = idle_wave_cases(noisy, plan("nonblocking", "eager", noise_shares=(0.02,), seeds=2))
    assert [case.noise for case in cases] == [0, 0.02, 0.02, pytest.approx(0.35 / 0.65), pytest.approx(0.35 / 0.65)]
    assert [case.machine.noise is noisy.noise for case in cases] == [False] * 3 + [True] * 2


def test_the_decay_is_that_of_the_standard_deviation_of_the_noise_whatever_its_detours() -> None:
    """Of detours every τ that add a share s, a computation T has s sqrt(2 T τ)."""
    share, found = 0.05, []
    for interval in (COMPUTE // 10, 10 * COMPUTE):
        more = {
            "noise_shares": (share,),
            "seeds": 8,
            "delays": None,
            "iterations": 24,
            "ranks": 32,
            "noise_interval_ps": interval,
        }
        rows = [idle_wave_row(case) for case in idle_wave_cases(machine(), plan("nonblocking", "eager", **more))[2:]]
        found.append(np.median([row["decay_ps"] for row in rows]) / (share * np.sqrt(2 * COMPUTE * interval)))
    assert len(rows) == 8
    assert all(0.4 < ratio < 1.1 for ratio in found), "while the detours differ a hundredfold"


NOISES = {
    "random": PoissonNoise(interval=200e6, length=ExponentialLength(10e6)),
    "co-scheduled": PoissonNoise(interval=200e6, length=ExponentialLength(10e6), phase="same"),
    "recorded": Noise(np.array([10 * US, 70 * US]), np.array([5 * US, 30 * US]), 100 * US),
    "with phases": Noise(np.array([10 * US, 70 * US]), np.array([5 * US, 9 * US]), 100 * US, (3 * US, 12 * US)),
    "mixed": MixedNoise(
        Noise(np.array([0, 90 * US]), np.array([5 * US, 10 * US]), 100 * US),
        (PoissonNoise(200e6, ExponentialLength(10e6)), PoissonNoise(50e6, ExponentialLength(1e6))),
    ),
}


@pytest.mark.parametrize("name", NOISES)
def test_beside_delays_the_noise_is_that_of_the_machine(name: str) -> None:
    noisy = machine().with_noise(NOISES[name])
    schedule = idle_wave_cases(machine(), plan("nonblocking", "eager"))[0].schedule
    for seed in (0, 3):
        own = idlewave.simulate(schedule, noisy, seed=seed)
        listed = idlewave.simulate(schedule, with_delays(noisy, seed, RANKS, 2 * own.max_finish, ()))
        assert listed.finish.tolist() == own.finish.tolist()
        assert own.max_finish > idlewave.simulate(schedule, machine()).max_finish


def test_a_delay_stops_its_rank_once_and_swallows_detours_in_it() -> None:
    noisy = machine().with_noise(Noise(np.array([50]), np.array([10]), 100, "same"))
    listed = with_delays(noisy, 0, 2, 1000, [Delay(1, 120, 200)]).noise
    assert isinstance(listed, Noise)
    own = [listed.detours(0, rank, 1000) for rank in (0, 1)]
    detours = [list(zip(*(part.tolist() for part in each), strict=True)) for each in own]
    kept = [each for each in detours[0] if sum(each) < 120 or each[0] > 320]
    assert (120, 200) in detours[1]
    assert [each for each in detours[1] if each != (120, 200)] == kept


def test_delays_are_written_as_they_are_read() -> None:
    assert parse_delays("32@10ms+13.5ms, 0@0s+1ps") == (Delay(32, 10**10, 135 * 10**8), Delay(0, 0, 1))
    assert len(parse_delays("3@2ms+1ms,3@1ms+1ms,4@1ms+5ms")) == 3, "one after another, and of another rank"
    assert str(Delay(32, 10**10, 135 * 10**8)) == "32@10ms+13.5ms"


@pytest.mark.parametrize(
    "text",
    ["", "3", "3@1ms", "x@1ms+1ms", "3@1+1ms", "3@1ms+0ms", "3@-1ms+1ms", "3@1ms+1ms,", "3@2ms+1ms,3@1ms+1001us"],
)
def test_what_is_no_delay_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="delay"):
        parse_delays(text)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"patterns": ("nonblock",)}, "nonblock"),
        ({"protocols": ("lazy",)}, "lazy"),
        ({"ranks": 5, "partners": (2,)}, "a number of ranks from 6 on, found 5"),
        ({"ranks": 7, "partners": (1,)}, "an even number of ranks"),
        ({"noise_shares": (1.5,)}, "up to 1, found 1.5"),
        ({"compute_ps": 1500}, "whole ns"),
        ({"delays": "3ms"}, "RANK@TIME"),
        ({"patterns": ("sendrecv",), "noise_shares": (0.3,)}, "the pattern nonblocking with noise"),
        ({"patterns": ("sendrecv",), "noise_interval_ps": 10**9}, "the pattern nonblocking with noise"),
        ({"noise_shares": (), "noise_interval_ps": 10**9}, "the pattern nonblocking with noise"),
    ],
)
def test_what_is_no_wave_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        idlewave.study.idle_wave(machine(), WavePlan(**options))


def test_a_delay_of_a_rank_that_is_not_there_or_is_done_is_refused() -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    for delays, why in (("4@0us+1us", "a rank below 4"), ("0@1s+1us", "before the rank has done all")):
        with pytest.raises(idlewave.CaseError, match=why):
            idlewave.study.idle_wave(machine(), OwnProgram(schedule, delays))


def test_a_program_of_ones_own_is_simulated_with_the_noise_of_the_machine(tmp_path: Path) -> None:
    """A delay of a broadcast's leaf costs nobody else, one of its root all."""
    noisy = machine().with_noise(NOISES["random"])
    schedule = Schedule.pattern("bcast", ranks=8)
    table = idlewave.study.idle_wave(noisy, OwnProgram(schedule, "0@0us+50us", seeds=2), folder=tmp_path)
    assert list(table["seed"]) == [0, 0, 1]
    assert table["ranks_cost"][0] == 8
    leaf = idlewave.study.idle_wave(machine(), OwnProgram(schedule, "7@0us+50us"))
    assert leaf["reached"][0] == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "reaches 7 of 7 other ranks" in page


@pytest.mark.long
def test_a_traced_program_waits_for_the_rank_that_is_delayed(tmp_path: Path) -> None:
    """The heat equation on four ranks, which all reduce their residual at its end."""
    found = open_mpi()
    program = mpi.build_example(found, "halo2d", tmp_path / "halo2d")
    launch = ["trace", "--", str(found.mpiexec), "-n", "4", str(program), "64", "10"]
    traced = run_command(launch, tmp_path)
    assert traced.status == 0, traced.complained
    words = ["study", "idle-wave", "--program", "trace", "--delays", "2@10us+1s", "--json"]
    [row] = json.loads(run_command(words, tmp_path).printed)["rows"]
    assert row["reached"] == 3
    assert row["cost"] == pytest.approx(1, rel=0.01)
    assert row["ranks_cost"] == pytest.approx(4, rel=0.01)
    edited = run_command(
        ["study", "machines", "--program", "trace", "-m", "odin", "--set", "L=1ms", "--json"], tmp_path
    )
    before, after = json.loads(edited.printed)["rows"]
    assert after["finish_ps"] > before["finish_ps"] + 10 * 900 * US, "ten exchanges, one after another"


def test_the_page_says_only_what_rows_show() -> None:
    quick = plan("overlap", "eager")
    table = idlewave.study.idle_wave(machine(), quick)
    said = " ".join(text for _, text in idle_wave_page(table).findings)
    assert "less late each" in said
    assert "published" not in said
    assert "seed" not in said
    assert "do not add up" not in said


def test_the_command_writes_table_and_page_and_goes_on(tmp_path: Path) -> None:
    words = [
        "study",
        "idle-wave",
        "--patterns",
        "nonblocking,allreduce",
        "--partners",
        "1",
        "--ranks",
        "16",
        "--iterations",
        "12",
        "--compute",
        "300us",
    ]
    words += ["--bytes", "1", "--noise-shares", "0.05", "--seeds", "2", "-o", "out"]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "2 of 4 speeds are those published" in plain(first.printed)
    assert (tmp_path / "out/report.html").read_text(encoding="utf-8").count("<figure") == 5
    again = json.loads(run_command([*words, "--json"], tmp_path).printed)["rows"]
    assert len(again) == 2 * 2 + 1 + 2
    stored = pd.read_parquet(tmp_path / "out/study.parquet")
    assert [row["simulation_s"] for row in again] == list(stored["simulation_s"])


def test_the_command_takes_a_program_and_an_array_repeats_its_words(tmp_path: Path) -> None:
    (tmp_path / "own.goal").write_text(OWN)
    words = ["study", "idle-wave", "--program", "own.goal", "--delays", "1@0us+5us"]
    made = run_command([*words, "--array", "slurm", "--tasks", "1"], tmp_path)
    assert made.status == 0, made.complained
    array = json.loads((tmp_path / "study-idle-wave/array.json").read_text(encoding="utf-8"))
    assert array["words"] == ["--program", "own.goal", "--delays", "1@0us+5us"]
    assert run_command([*words, "--share", "0/1"], tmp_path).status == 0
    collected = run_command(["study", "collect", "study-idle-wave"], tmp_path)
    assert collected.status == 0, collected.complained
    lone = ["study", "idle-wave", "--patterns", "sendrecv", "--ranks", "8"]
    for more in (["--noise-shares", "0.3"], ["--noise-interval", "1ms"], ["--seeds", "3"]):
        refused = run_command([*lone, *more], tmp_path)
        assert refused.status == 2
        assert "nonblocking" in refused.complained
    for more, why in (
        (["--ranks", "8"], "your own program is what it is"),
        (["--noise-shares", "none"], "--noise-shares"),
    ):
        assert why in run_command([*words, *more], tmp_path).complained
    assert "needs --delays" in run_command(words[:4], tmp_path).complained
    assert "no trace" in run_command(["study", "idle-wave", "--gaps", "wall"], tmp_path).complained

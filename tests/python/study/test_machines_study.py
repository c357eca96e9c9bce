"""`idlewave study machines`: an edit changes what it names by what it says, and the table and the page show that."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, Noise, Schedule, UsageError
from idlewave.formatting import plain
from idlewave.report.machines_page import machines_page, with_noise, without_noise
from idlewave.studies.machine_edits import edited, parse_edit
from idlewave.studies.machines import MachinesPlan, machine_cases

US = 10**6
L, O = 5 * US, US  # noqa: E741 - the model's names
TOML = """
name = "small"
[network]
L = "5us"
o = "1us"
g = "1us"
G = "2ns"
O = "0.5ns"
S = 65536
[[network.segment]]
from = 4096
g = "3us"
[network.node]
ranks = 2
L = "1us"
"""
NOISE = Noise(np.array([0]), np.array([10 * US]), 100 * US)
BCAST = Schedule.pattern("bcast", ranks=8, bytes=1)


def machine(**more: object) -> Machine:
    return replace(Machine.from_toml(TOML), **more)  # type: ignore[arg-type]


def flat(name: str = "flat") -> Machine:
    """A machine of one level, on which a broadcast of a byte takes three hops."""
    return replace(machine(), name=name, node=None)


def test_an_edit_holds_for_all_sizes_of_its_level_and_for_no_other_level() -> None:
    found = edited(machine(), parse_edit("g=2x"))
    assert (found.network.parameters.g, found.network.segments[0].parameters.g) == (2 * US, 6 * US)
    assert found.node == machine().node
    within = edited(machine(), parse_edit("node.L=0.5x"))
    assert within.node is not None
    assert within.node.parameters.L == US // 2
    assert within.network == machine().network
    assert found.name == "small, g=2x"


def test_values_are_times_costs_and_sizes_with_their_units() -> None:
    found = edited(machine(), parse_edit("L=1.5us, o=250ns,G=0.25ns,O_r=3ps,S=inf,c=2us")).network
    p = found.parameters
    assert (p.L, p.o_s, p.o_r, p.G, p.O_s, p.O_r, p.c) == (1_500_000, 250_000, 250_000, 250.0, 500.0, 3.0, 2 * US)
    assert found.eager_limit is None
    assert edited(machine(), parse_edit("S=8KiB")).network.eager_limit == 8192
    assert edited(machine(), parse_edit("S=0.5x")).network.eager_limit == 32768


def test_a_factor_is_exact_and_halves_round_up() -> None:
    odd = replace(machine(), network=replace(machine().network, parameters=replace(machine().network.parameters, L=3)))
    assert edited(odd, parse_edit("L=0.5x")).network.parameters.L == 2
    assert edited(odd, parse_edit("L=0.1x")).network.parameters.L == 0
    assert edited(machine(), parse_edit("L=0.3x")).network.parameters.L == 1_500_000
    assert edited(machine(), parse_edit("G=0.1x")).network.parameters.G == 200.0


def test_an_edit_of_the_value_that_is_there_changes_nothing_but_the_name() -> None:
    same = edited(machine(), parse_edit("L=5us,o=1x"))
    assert same.network == machine().network
    assert same.identity() == machine().identity()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an edit such as"),
        ("L", "an edit such as"),
        ("M=2x", "an edit such as"),
        ("rack.L=2x", "an edit such as"),
        ("L=2", "a factor such as 0.5x, or"),
        ("L=-1x", "a factor from 0 on"),
        ("L=-3us", "a time from 0 on"),
        ("L=1/2x", "a factor such as"),
        ("L=nanx", "a factor such as"),
        ("S=1us", "expected bytes"),
        ("L=2x,L=1us", "each parameter once"),
        ("o=2x,o_s=1us", "each parameter once"),
    ],
)
def test_what_is_no_edit_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_edit(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("one_sided.L=2x", "has no .network.one_sided."),
        ("G=9e15s", "expected a time"),
    ],
)
def test_an_edit_that_makes_no_machine_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        edited(machine(), parse_edit(text))


def test_a_multiple_of_an_infinite_eager_limit_is_refused() -> None:
    with pytest.raises(UsageError, match="inf, which has no multiple"):
        edited(edited(machine(), parse_edit("S=inf")), parse_edit("S=2x"))


def plan(*edits: str, **more: object) -> MachinesPlan:
    return MachinesPlan(edits, program=lambda _: BCAST, **more)  # type: ignore[arg-type]


def test_a_broadcast_gains_what_its_three_hops_say() -> None:
    table = idlewave.study.machines([flat()], plan("L=0.5x", "o=3us", "g=0.5x", "L=0.5x,o=0.5x"))
    assert list(table["finish_ps"]) == [
        3 * (L + 2 * O),
        3 * (L // 2 + 2 * O),
        3 * (L + 6 * O),
        3 * (L + 2 * O),
        3 * (L // 2 + O),
    ]
    gains = dict(zip(table["edit"], without_noise(table)["gain"], strict=True))
    assert gains["L=0.5x"] == pytest.approx(7 / 4.5 - 1)
    assert gains["g=0.5x"] == 0


def test_a_small_edit_is_what_the_derivative_says() -> None:
    """The L of the network counts as often as sensitivities says."""
    schedule = Schedule.pattern("allreduce", ranks=16, bytes=8)
    slope = idlewave.sensitivities(schedule, machine()).network["L"]
    own = MachinesPlan(("L=5001ns",), program=lambda _: schedule)
    table = idlewave.study.machines([machine()], own)
    assert table["finish_ps"][1] - table["finish_ps"][0] == 1000 * slope
    assert slope > 0


def test_every_machine_gets_every_edit_without_noise_and_under_each_seed() -> None:
    noisy = flat("noisy").with_noise(NOISE)
    table = idlewave.study.machines([flat("quiet"), noisy], plan("L=2x", seeds=3))
    assert table.groupby(["base", "edit"]).size().to_dict() == {
        ("quiet", ""): 1, ("quiet", "L=2x"): 1, ("noisy", ""): 4, ("noisy", "L=2x"): 4
    }  # fmt: skip
    assert list(table.loc[table["base"] == "noisy", "machine"].unique()) == ["noisy", "noisy, L=2x"]
    quiet = table[~table["noise"].astype(bool)]
    same = quiet.pivot(index="edit", columns="base", values="finish_ps")
    assert (same["quiet"] == same["noisy"]).all(), "the network is the same"
    slower = with_noise(table)
    assert list(slower["seeds"]) == [3, 3]
    assert (slower["low"] <= slower["median"]).all()
    assert (slower["median"] <= slower["high"]).all()
    assert (slower["low"] >= 0).all()
    assert (slower["high"] > 0).any()


def test_the_program_is_made_for_each_machine_and_a_machine_keeps_it_under_edits() -> None:
    made = []

    def program(of: Machine) -> Schedule:
        made.append(of.name)
        return BCAST

    cases = machine_cases([flat("a"), flat("b")], MachinesPlan(("L=2x",), program=program))
    assert made == ["a", "b"]
    assert len(cases) == 4


def test_generated_programs_follow_the_machine_s_algorithms() -> None:
    text = TOML.replace("ranks = 2\nL", "ranks = 2\nL") + '[[collective]]\nname = "allreduce"\nalgorithm = "ring"\n'
    ring = replace(Machine.from_toml(text), name="ring")
    small = MachinesPlan((), programs=("allreduce",), ranks=16, iterations=2)
    table = idlewave.study.machines([machine(), ring], small)
    assert table["messages"][1] == 2 * 16 * 2 * 15
    assert table["messages"][0] != table["messages"][1]


def test_the_page_says_what_is_fastest_and_what_gives_most() -> None:
    slow = edited(flat("slow"), parse_edit("L=20us"))
    table = idlewave.study.machines([flat(), replace(slow, name="slow")], plan("L=0.5x", "L=1us", "O=0.5x"))
    said = [plain(text) for _, text in machines_page(table).findings]
    assert "The fastest is flat with 21 us, the slowest is slow with 66 us." in [
        text.replace("µ", "u") for text in said
    ]
    assert "What speeds it up most: L=1us on 2 machines (most on slow, 633 %)." in said
    assert "Faster than flat as it is: slow with L=1us." in said
    assert not any("noise" in text or "slow" in text.split(":")[0] for text in said[1:])


def noisy_rows(*machines: tuple[str, str, int, float]) -> pd.DataFrame:
    """Of each base and edit with its time: without noise, and with five seeds that take a share longer."""
    rows = []
    for base, edit, time, slowdown in machines:
        name = f"{base}, {edit}" if edit else base
        rows.append(("p", base, edit, name, False, 0, 8, time))
        rows += [("p", base, edit, name, True, seed, 8, time * (1 + slowdown + 0.01 * seed)) for seed in range(5)]
    names = ["program", "base", "edit", "machine", "noise", "seed", "ranks", "finish_ps"]
    return pd.DataFrame(rows, columns=names)


def test_what_noise_leaves_of_an_edit_is_said_where_it_is_beyond_the_spread_of_seeds() -> None:
    """Half the time without noise, but 1.5 times as much noise: 2 · 1.1 / 1.6 = 1.375, of the same seed."""
    table = noisy_rows(("m", "", 1000, 0.1), ("m", "L=0.5x", 500, 0.6), ("m", "g=0.5x", 900, 0.1))
    said = [plain(text) for _, text in machines_page(table).findings]
    assert "Longer by noise, median and 10 to 90 % of 5 seeds: m 12 % (10 % to 14 %)." in said
    assert "With noise edits are worth something else: m, L=0.5x 38 % (38 % to 39 %) instead of 100 %." in said
    gains = with_noise(table).set_index("edit")["gain"]
    assert gains["L=0.5x"] == pytest.approx(2 * 1.12 / 1.62 - 1)
    assert gains["g=0.5x"] == pytest.approx(1 / 0.9 - 1)


def test_of_one_seed_or_within_what_counts_as_equal_an_edit_is_not_said_to_be_worth_something_else() -> None:
    several = noisy_rows(("m", "", 1000, 0.1), ("m", "L=0.5x", 500, 0.6))
    nearly = noisy_rows(("m", "", 1000, 0.1), ("m", "L=0.5x", 500, 0.103))
    for table, said in ((several, True), (several[several["seed"] == 0], False), (nearly, False)):
        assert said is any("worth something else" in text for _, text in machines_page(table).findings)


def test_without_seeds_the_page_does_not_say_that_a_machine_has_no_noise() -> None:
    table = idlewave.study.machines([flat("noisy").with_noise(NOISE)], plan("g=0.999x", seeds=0))
    page = machines_page(table)
    assert "not simulated on noisy" in dict(page.rests)["noise"]
    assert any("on noisy" in text for _, text in page.findings if "No edit" in text)


def test_the_fastest_machine_with_noise_is_named_where_it_is_another() -> None:
    noise = [plain(text) for _, text in machines_page(noisy_rows(("a", "", 100, 0.5), ("b", "", 110, 0.1))).findings]
    assert "With noise the fastest of these is b, not a, by the medians." in noise
    alike = [plain(text) for _, text in machines_page(noisy_rows(("a", "", 100, 0.1), ("b", "", 110, 0.1))).findings]
    assert not any("With noise the fastest" in text for text in alike)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (partial(machine_cases, [flat(), flat()], plan()), "machines of different names"),
        (partial(machine_cases, [flat()], plan("L=2x", "L=2x")), "each edit once"),
        (partial(MachinesPlan, programs=("halo4d",)), "halo4d"),
        (partial(MachinesPlan, ranks=1), "a number of ranks from 2 on"),
        (partial(MachinesPlan, compute_ps=1), "whole ns"),
    ],
)
def test_what_is_no_study_of_machines_is_refused(run: partial[object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        run()


def test_the_command_writes_table_and_page_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "noisy.toml").write_text(TOML + '[noise]\nkind = "periodic"\nperiod = "1ms"\nlength = "20us"\n')
    edits = ["--set", "L=0.5x", "--set", "G=2x,O=2x"]
    words = ["study", "machines", "-m", "odin", "-m", "noisy.toml", *edits, "--programs", "halo3d,allreduce"]
    words += ["--ranks", "27", "--iterations", "2", "--seeds", "2", "-o", "out"]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "small with" in first.printed
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 3
    assert "is not simulated on odin" in page
    again = json.loads(run_command([*words, "--json"], tmp_path).printed)["rows"]
    assert len(again) == 2 * 3 * (1 + 1 + 2)
    stored = pd.read_parquet(tmp_path / "out/study.parquet")
    assert [row["simulation_s"] for row in again] == list(stored["simulation_s"])
    made = run_command([*words[:-2], "-o", "array", "--array", "slurm", "--tasks", "2"], tmp_path)
    assert made.status == 0, made.complained
    array = json.loads((tmp_path / "array/array.json").read_text(encoding="utf-8"))
    assert array["words"][:8] == ["--machine", "odin", "--machine", "noisy.toml", *edits]


def test_the_command_takes_a_program_and_the_noise_of_another_machine(tmp_path: Path) -> None:
    BCAST.save(tmp_path / "own.goal")
    (tmp_path / "noisy.toml").write_text(TOML + '[noise]\nkind = "periodic"\nperiod = "1ms"\nlength = "20us"\n')
    words = ["study", "machines", "-m", "odin", "--program", "own.goal", "--set", "none", "--seeds", "2", "--json"]
    quiet = json.loads(run_command(words, tmp_path).printed)["rows"]
    assert [row["noise"] for row in quiet] == [False]
    noisy = json.loads(run_command([*words, "--noise-of", "noisy.toml"], tmp_path).printed)["rows"]
    assert [row["noise"] for row in noisy] == [False, True, True]
    assert "has no noise" in run_command([*words, "--noise-of", "odin"], tmp_path).complained
    assert "your own program is what it is" in run_command([*words, "--ranks", "8"], tmp_path).complained
    assert "none alone, or edits" in run_command([*words, "--set", "L=2x"], tmp_path).complained

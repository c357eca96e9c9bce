"""`idlewave study network`: times follow the scaled parameters, and what noise adds is compared over them."""

from __future__ import annotations

from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, Schedule, UsageError
from idlewave.formatting import plain
from idlewave.report.network_speed_page import added_by_noise, beside_published, network_speed_page
from idlewave.studies.machine_variants import changed, scaled, with_overhead_share, without_network_costs
from idlewave.studies.programs import ProgramSettings

US = 10**6
L, O, G = 5 * US, US, 2_000  # noqa: E741 - the model's names
MACHINE = Machine.from_toml(
    'name = "small"\n[network]\nL = "5us"\no = "1us"\ng = "2us"\nG = "2ns"\nO = "0ns"\nS = 4096\n'
    '[[network.segment]]\nfrom = 1000\ng = "3us"\n[network.node]\nranks = 2\nL = "1us"\no = "0.5us"\ng = "1us"\n'
)
ONE_LEVEL = Machine.from_toml(
    'name = "one"\n[network]\nL = "5us"\no = "1us"\ng = "2us"\nG = "2ns"\nO = "0ns"\nS = "inf"\n'
)


def test_a_factor_holds_for_all_levels_and_sizes_and_nothing_else() -> None:
    found = scaled(MACHINE, ["L", "g", "G"], 0.1)
    assert found.network.parameters.L == L / 10
    assert found.network.parameters.o_s == found.network.parameters.o_r == O
    assert pytest.approx(G / 10) == found.network.parameters.G
    assert found.network.segments[0].parameters.g == 300_000
    assert found.network.eager_limit == 4096
    assert found.node is not None
    assert found.node.parameters.L == 100_000
    assert scaled(MACHINE, ["L"], 1.0) is MACHINE


def test_overheads_are_shares_of_the_gaps_of_each_level() -> None:
    found = with_overhead_share(MACHINE, 0.5)
    assert found.network.parameters.o_s == found.network.parameters.o_r == US
    assert found.network.segments[0].parameters.o_r == 1_500_000
    assert found.network.parameters.O_s == found.network.parameters.G / 2
    assert without_network_costs(MACHINE).network.segments[0].parameters.g == 0
    assert changed(MACHINE, lambda old: old).identity() == MACHINE.identity()


@pytest.mark.parametrize("factor", [0.1, 1.0, 7.0])
def test_without_noise_a_dissemination_takes_what_the_closed_form_says(factor: float) -> None:
    """The first operation of 1 B on 16 ranks takes 4 (L + 2 o); the gap g fits in between if it is at most that."""
    table = idlewave.study.network(
        ONE_LEVEL, programs=("dissemination",), ranks=(16,), factors=(factor,), noise=["10Hz:50us"], seeds=1,
        settings=ProgramSettings(iterations=1),
    )  # fmt: skip
    own = table[(table["noise"] == "") & (table["factor"] == factor)]["finish_ps"]
    assert list(own) == [4 * (round(factor * L) + 2 * O)]


def test_dense_noise_adds_as_much_on_any_network_and_a_faster_one_gives_little() -> None:
    """As published of a dissemination of 1 B under detours of 100 µs at 1000 Hz, at a small scale."""
    table = idlewave.study.network(
        "odin", programs=("dissemination",), ranks=(256,), noise=["1000Hz:100us"], factors=(0.1, 10), seeds=5
    )
    found = added_by_noise(table)
    assert found["added_ps"].max() < 1.5 * found["added_ps"].min()
    assert [holds for _, _, holds in beside_published(found)] == ["yes", "yes"]


def made_up(quiet: dict[float, int], noisy: dict[float, list[int]]) -> pd.DataFrame:
    """A table of a program on 4 ranks: times, ps, by factor, without noise and with each seed of it."""
    rows = [("", factor, 0, time) for factor, time in quiet.items()]
    rows += [("1000Hz:100us", factor, seed, time) for factor, times in noisy.items() for seed, time in enumerate(times)]
    table = pd.DataFrame(rows, columns=["noise", "factor", "seed", "finish_ps"])
    return table.assign(program="p", machine="m", ranks=4, scaled="L")


@pytest.mark.parametrize(
    ("fast", "holds"),
    [([2950] * 6, "yes"), ([2500] * 6, "no"), ([2000, 3500] * 3, "–"), ([2950] * 4, "–"), ([2950], "–")],
)
def test_a_faster_network_gives_nothing_only_if_all_of_the_intervals_say_so(fast: list[int], holds: str) -> None:
    """It gives 20 % without noise, so that less than 10 % of 3000 ps is nothing."""
    table = made_up({0.1: 800, 1.0: 1000}, {0.1: fast, 1.0: [3000] * len(fast)})
    assert beside_published(added_by_noise(table))[1][2] == holds


def test_each_factor_has_its_say_in_what_noise_adds_and_is_named_once() -> None:
    quiet = dict.fromkeys((0.5, 1.0, 2.0), 1000)
    wide = made_up(quiet, {0.5: [1100] * 6, 1.0: [1050, 1280] * 3, 2.0: [1170] * 6})
    assert beside_published(added_by_noise(wide))[0][2] == "–", "the mean of factor 2 is the most, the interval of 1"
    two = made_up({0.5: 1000, 1.0: 1000}, {0.5: [2000], 1.0: [1999]})
    (_, text), *_ = network_speed_page(two).findings
    assert text.count("at 0.5") == text.count("at 1") == 1
    assert beside_published(added_by_noise(two))[0][2] == "–", "one seed"


def test_the_sentences_say_what_the_rows_say() -> None:
    """The sentences have the gain of the rows."""
    table = idlewave.study.network(
        "odin", programs=("halo2d",), ranks=(16,), noise=["10Hz:50us"], factors=(0.1,), seeds=2,
        settings=ProgramSettings(compute_ns=1000),
    )  # fmt: skip
    found = added_by_noise(table)
    gain = 1 - found.set_index("factor")["quiet_ps"][0.1] / found.set_index("factor")["quiet_ps"][1.0]
    said = [plain(text) for _, text in network_speed_page(table).findings]
    assert said[0].startswith(f"L, g and G times 0.1: {100 * gain:.0f} % shorter without noise, ")
    assert "On 16 ranks noise adds" in said[0]


def test_the_command_takes_a_schedule_and_writes_table_and_page(tmp_path: Path) -> None:
    Schedule.pattern("allreduce", ranks=4, bytes=8).save(tmp_path / "own.goal")
    words = ["study", "network", "own.goal", "--seeds", "2", "--parameters", "L+G,o", "--factors", "0.5", "-o", "out"]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "own.goal, detours of 100 µs at 1000 Hz" in first.printed
    assert (tmp_path / "out/report.html").exists()
    assert len(pd.read_parquet(tmp_path / "out/study.parquet")) == 2 * 2 * (1 + 2 * 2)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"parameters": ("Q",)}, "no parameter is called 'Q'"),
        ({"parameters": ()}, "different sets of parameters"),
        ({"factors": (-1.0,)}, "from 0 to"),
        ({"factors": (2, 2)}, "each factor once"),
    ],
)
def test_what_is_no_study_is_refused(options: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        idlewave.study.network(**options)  # type: ignore[arg-type]

"""`idlewave study thinning`: the source that costs most is removed first, and what costs nothing is said to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_examples import make_material
from command_runs import run_command
from idlewave import Machine, Schedule, UsageError
from idlewave.formatting import plain
from idlewave.measure.noise import Signature, fit_signature
from idlewave.measure.noise.replay import write_noise
from idlewave.noise_models import Noise
from idlewave.noise_presets import noise_preset
from idlewave.random_noise import FixedLength, MixedNoise, PoissonNoise
from idlewave.report.thinning_advice import advice
from idlewave.report.thinning_page import costs_at, steps, thinning_page, to_do
from idlewave.studies.noise_sources import (
    MOST_SOURCES,
    OTHERS,
    chosen_sources,
    sources_in,
    sources_of_machine,
    sources_of_signature,
)
from idlewave.studies.run_study import run_study
from idlewave.studies.thinning import ThinningPlan, removals, savings, thinning_cases, thinning_study
from noise_recordings import detours, events, write_detours

RARE, OFTEN, TICK = "random 397 us, 1 a second", "random 20 us, 20 a second", "every 4 ms, 5.2 us"
"""The sources of the preset chic, as a terminal shows them."""


def chic() -> Machine:
    return Machine.preset("odin").with_noise(noise_preset("chic"))


def table_of(
    machine: Machine, ranks: Sequence[int] = (1024,), seeds: int = 14, program: str = "halo2d"
) -> pd.DataFrame:
    plan = ThinningPlan(machine, sources_of_machine(machine), program, None, ranks, seeds=seeds)
    return run_study(thinning_study(plan), thinning_cases(plan))


@pytest.fixture(scope="module")
def chic_table() -> pd.DataFrame:
    return table_of(chic())


def named(names: Sequence[str]) -> list[str]:
    return [plain(str(name)).replace("µ", "u") for name in names]


def test_the_rare_long_detours_go_first_and_the_tick_that_takes_most_time_last(chic_table: pd.DataFrame) -> None:
    found = costs_at(chic_table, 1024)
    assert named(found["source"])[0] == RARE
    assert named([found.sort_values("overhead").iloc[-1]["source"]]) == [TICK]
    assert named(removals(chic_table)) == [RARE, OFTEN, TICK]
    assert list(steps(chic_table)["slowdown"]) == sorted(steps(chic_table)["slowdown"], reverse=True)
    last = steps(chic_table).iloc[-1]
    assert (last["slowdown"], last["low"], last["high"]) == (0, 0, 0), "without any noise"


def test_a_source_alone_costs_what_remains_when_the_others_are_removed(chic_table: pd.DataFrame) -> None:
    """The tick is the last of three: alone and after two removals it is the same machine."""
    tick = chic_table[chic_table["source"].map(lambda name: named([name]) == [TICK])]
    last = chic_table[(chic_table["way"] == "removed") & chic_table["source"].map(lambda n: named([n]) == [OFTEN])]
    assert tick[tick["way"] == "alone"]["lost_ps"].iloc[0] == last["lost_ps"].iloc[0]


def test_the_page_ends_with_three_things_to_do(chic_table: pd.DataFrame) -> None:
    said = thinning_page(chic_table).findings
    assert [topic for topic, _ in said[-3:]] == ["to do, 1", "to do, 2", "to do, 3"]
    assert "about 397" in said[-3][1]
    assert "nohz_full" in said[-1][1]
    assert any(topic == "shares" for topic, _ in said), "the tick takes most time, and costs least"


def test_what_costs_nothing_beyond_chance_is_said_to() -> None:
    """A detour of a nanosecond in each second, beside much noise that decides."""
    noise = noise_preset("chic")
    assert isinstance(noise, MixedNoise)
    tiny = Noise(np.array([0]), np.array([1000]), 10**12)
    found = table_of(Machine.preset("odin").with_noise(replace(noise, trace=tiny)), ranks=(64,), seeds=4)
    said = [plain(text) for _, text in thinning_page(found).findings]
    assert any("no cost is shown beyond chance" in text and "every 1 s, 1 ns" in text for text in said)
    assert len(to_do(found)) == 3


def test_savings_are_welchs_with_holms_correction() -> None:
    current = pd.Series({"lost_ps": 100.0, "lost_sd_ps": 10.0, "seeds": 10})
    tried = pd.DataFrame(
        {"source": list("abc"), "lost_ps": [20.0, 99.0, 100.0], "lost_sd_ps": [10.0, 10.0, 0.0], "seeds": 10}
    )
    found = savings(current, tried).set_index("source")
    assert list(found["matters"]) == [True, False, False]
    assert found.loc["a", "saved_ps"] == 80
    assert found.loc["a", "low_ps"] == pytest.approx(80 - 2.1009 * 10 * np.sqrt(0.2), rel=1e-4), "18 degrees of freedom"
    assert found.loc["b", "p"] == 1


def test_the_first_removal_is_the_largest_that_is_beyond_chance_and_not_the_largest() -> None:
    """A saves more in the mean than B, and scatters so much that it is chance."""
    rows = [("all", "", 100.0, 10.0), ("without", "A", 60.0, 100.0), ("without", "B", 80.0, 2.0)]
    table = pd.DataFrame(rows, columns=["way", "source", "lost_ps", "lost_sd_ps"]).assign(ranks=8, before="", seeds=10)
    assert removals(table) == ["B"]


def test_no_scatter_at_all_is_no_chance() -> None:
    current = pd.Series({"lost_ps": 100.0, "lost_sd_ps": 0.0, "seeds": 10})
    tried = pd.DataFrame({"source": ["a", "b"], "lost_ps": [90.0, 100.0], "lost_sd_ps": 0.0, "seeds": 10})
    assert list(savings(current, tried)["matters"]) == [True, False]


def test_the_sources_of_a_signature_are_those_of_all_cores_and_any_can_be_left_out() -> None:
    cores = [detours(2.0, [(250, 5e-6)], [(200, 2e-5)], seed=1, core=core) for core in range(2)]
    found = sources_of_signature(fit_signature(cores), seconds=2.0)
    assert "every 4ms" in found.names
    whole, ticks = found.noise(found.names), found.noise(["every 4ms"])
    assert isinstance(whole, MixedNoise)
    assert isinstance(ticks, Noise)
    assert ticks.overhead == pytest.approx(250 * 5e-6, rel=0.02)
    assert whole.overhead == pytest.approx(fit_signature(cores).overhead, rel=0.05)
    assert found.noise([]) is None


def test_very_many_sources_are_one_but_for_those_that_weigh_most() -> None:
    cores = [detours(2.0, [(250, 5e-6)], [(200, 2e-5)], seed=1)]
    one = fit_signature(cores)
    source = next(source for source in one.sources if source.kind == "random")
    many = tuple(replace(source, name=f"source {number}", period_ps=1e9 * (1 + number)) for number in range(20))
    found = sources_of_signature(Signature("many", one.cores, many), seconds=1.0)
    assert len(found.names) == MOST_SOURCES
    assert found.names[0] == "source 0"
    assert found.names[-1] == OTHERS
    rest = found.noise([OTHERS])
    assert rest is not None
    assert rest.overhead < found.noise(["source 0"]).overhead  # type: ignore[union-attr]


def test_recorded_tasks_are_the_sources_by_name(tmp_path: Path) -> None:
    core = detours(0.1, [(100, 1e-5), (70, 3e-4)], core=0)
    folder = write_detours(tmp_path / "noise", [core])
    rows = [
        (
            start / 1000,
            (start + length) / 1000,
            *(("task", "backup/3") if length > 10**8 else ("vector", "local_timer")),
        )
        for start, length in zip(core.starts.tolist(), core.lengths.tolist(), strict=True)
    ]
    events(rows).to_csv(folder / "detour-cpu0-events.csv", index=False)
    said = json.loads((folder / "detour.json").read_text())
    said["cores"][0]["events"] = "detour-cpu0-events.csv"
    (folder / "detour.json").write_text(json.dumps(said))
    found = sources_in(folder)
    assert (found.kind, found.names) == ("causes", ("task backup", "local_timer"))
    backup, timer = (found.noise([name]) for name in found.names)
    assert isinstance(backup, Noise)
    assert isinstance(timer, Noise)
    assert len(backup.starts) + len(timer.starts) == len(core.starts)
    assert backup.lengths.min() > timer.lengths.max()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("task backup", "Stop backup on compute nodes"),
        ("task preempted", "ps -eLo"),
        ("every 4ms", "nohz_full"),
        ("every 10.01ms", "nohz_full"),
        ("every 1.3s", "names the task"),
        ("random 12us", "takes about 12us"),
        ("random 397 µs, 1 a second", "takes about 397 µs"),
        ("local_timer + softirq TIMER", "nohz_full"),
        ("nvme0q1 + softirq BLOCK", "smp_affinity"),
        ("not explained: hypervisor, SMI, or events not recorded", "SMI"),
        (OTHERS, "Remove all others"),
    ],
)
def test_there_is_advice_for_each_kind_of_source(source: str, said: str) -> None:
    assert said in advice(source)


def test_the_command_writes_the_table_and_the_page_and_continues(tmp_path: Path) -> None:
    words = ["study", "thinning", "--ranks", "8,16", "--seeds", "3", "--programs", "allreduce", "-o", "out"]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "to do, 3" in first.printed
    assert (tmp_path / "out/report.html").read_text().count("<figure") == 1
    again = run_command([*words, "--json"], tmp_path)
    found = json.loads(again.printed)["rows"]
    table = pd.read_parquet(tmp_path / "out/study.parquet")
    assert [row["simulation_s"] for row in found] == list(table["simulation_s"])
    assert set(table["way"]) >= {"all", "without", "alone"}


def test_a_measured_machine_has_the_sources_of_its_signature(tmp_path: Path) -> None:
    write_detours(tmp_path / "noise", [detours(1.0, [(250, 5e-6)], [(100, 2e-5)], core=core) for core in range(2)])
    words = ["study", "thinning", "--recording", "noise", "--ranks", "8", "--seeds", "2", "-o", "out", "--json"]
    done = run_command(words, tmp_path)
    assert done.status == 0, done.complained
    assert "every 4ms" in {row["source"] for row in json.loads(done.printed)["rows"]}


@pytest.mark.long
def test_an_array_of_jobs_computes_what_is_known_and_collect_what_follows(tmp_path: Path) -> None:
    noise = Noise(np.array([0]), np.array([100 * 10**6]), 10**9)
    rare = PoissonNoise(1e12, FixedLength(10**6))
    write_noise(tmp_path / "noisy", MixedNoise(noise, (rare,)), Machine.preset("odin"))
    words = ["study", "thinning", "-m", "noisy", "--ranks", "16", "--seeds", "5"]
    words += ["--programs", "allreduce", "--operations", "50"]
    for more in (["-o", "a", "--array", "slurm", "--tasks", "1"], ["-o", "a", "--share", "0/1"], ["-o", "b"]):
        assert run_command([*words, *more], tmp_path).status == 0
    done = run_command(["study", "collect", "a"], tmp_path)
    assert done.status == 0, done.complained
    first, second = (pd.read_parquet(tmp_path / name / "study.parquet") for name in "ab")
    pd.testing.assert_frame_equal(first.drop(columns="simulation_s"), second.drop(columns="simulation_s"))
    assert "removed" in set(first["way"])


@pytest.mark.long
def test_the_machine_that_was_measured_has_the_sources_of_its_cores(tmp_path: Path) -> None:
    make_material(tmp_path)
    folder = tmp_path / "machine"
    machine = Machine.load(folder / "machine.toml")
    found = chosen_sources(machine, folder=folder)
    assert found.kind == "signature"
    assert chosen_sources(chic(), folder=folder).kind == "machine", "it has another noise"
    with pytest.raises(UsageError, match="found both"):
        chosen_sources(machine, folder, "chic")


def test_a_machine_without_noise_is_refused() -> None:
    with pytest.raises(UsageError, match="has no noise"):
        sources_of_machine(Machine.preset("odin"))


def test_options_of_generated_programs_are_refused_beside_ones_own(tmp_path: Path) -> None:
    Schedule.pattern("bcast", ranks=4).save(tmp_path / "own.goal")
    for option in (["--programs", "allreduce"], ["--bytes", "1KiB"], ["--operations", "50"]):
        refused = run_command(["study", "thinning", "own.goal", "-o", "out", *option], tmp_path)
        assert refused.status == 2
        assert f"{option[0]} has no meaning beside it" in refused.complained

"""`idlewave study sensitivity`: tolerated factors are those of the closed forms, and counts are those of the path."""

from __future__ import annotations

from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, Schedule, UsageError
from idlewave.formatting import plain
from idlewave.report.latency_bandwidth_page import beside_published, latency_bandwidth_page
from idlewave.studies.latency_bandwidth import PRECISION, tolerated_factor

US = 10**6
MACHINE = Machine.from_toml(
    'name = "small"\n[network]\nL = "5us"\no = "1us"\ng = "2us"\nG = "3ns"\nO = "0ns"\nS = "inf"\n'
)
BYTES = 1001
TIME = 5 * US + (BYTES - 1) * 3000 + 2 * US
"""Of a message: L + (s − 1) G + 2 o."""


def message() -> Schedule:
    return Schedule.from_goal(
        f"num_ranks 2\nrank 0 {{\nsend {BYTES}b to 1\n}}\nrank 1 {{\nrecv {BYTES}b from 0\n}}\n", name="message"
    )


def test_a_message_tolerates_what_the_closed_form_says() -> None:
    table = idlewave.study.sensitivity(MACHINE, programs=[message()], factors=(0.5, 4.0), growths=(0.1, 1.0))
    for parameter, value, count in (("L", 5 * US, 1), ("G", 3000, BYTES - 1)):
        own = table[table["parameter"] == parameter]
        curve = own[own["factor"].notna()].set_index("factor")
        for factor in (0.5, 1.0, 4.0):
            assert curve["finish_ps"][factor] == TIME + (factor - 1) * value * count
        assert list(curve["derivative"]) == [count] * 3
        assert {*own["value_ps"]} == {value}
        for growth in (0.1, 1.0):
            found = own[own["growth"] == growth].iloc[0]
            exact = 1 + growth * TIME / (value * count)
            assert found["tolerated"] <= exact < found["exceeding"]
            assert found["exceeding"] / found["tolerated"] <= 1 + PRECISION
            assert found["finish_ps"] <= TIME * (1 + growth)


def test_a_program_that_no_factor_makes_longer_tolerates_any() -> None:
    schedule = Schedule.pattern("compute", ranks=2, compute_ns=1000)
    table = idlewave.study.sensitivity(MACHINE, programs=[schedule], factors=(2.0,), growths=(0.01,))
    found = table[table["growth"].notna()]
    assert found["exceeding"].isna().all()
    assert (found["tolerated"] == 1e6).all()
    said = plain(latency_bandwidth_page(table).findings[0][1])
    assert said.startswith("On 2 ranks L may grow to more than 1,000,000 times until the run is 1.0 % longer; G may")
    assert beside_published(table)[0][2] == "–"


@pytest.mark.parametrize(("latency", "gap_per_byte"), [("0us", "3ns"), ("5us", "0ns")])
def test_a_parameter_that_is_0_tolerates_nothing_and_decides_nothing(latency: str, gap_per_byte: str) -> None:
    costs = f'L = "{latency}"\no = "1us"\ng = "2us"\nG = "{gap_per_byte}"\nO = "0ns"'
    machine = Machine.from_toml(f'name = "m"\n[network]\n{costs}\nS = "inf"\n')
    table = idlewave.study.sensitivity(machine, programs=[message()], factors=(), growths=(0.1,))
    assert beside_published(table)[0][2] == "–"
    page = latency_bandwidth_page(table)
    zero = "L" if latency == "0us" else "G"
    assert f"{zero} is 0" in plain(page.findings[0][1])
    assert [row[4] for row in page.tables[1].rows if row[1] == zero] == ["–"]


def test_the_sentence_has_the_factor_the_value_and_each_growth() -> None:
    """1 % of a message's 10 µs is a fiftieth of its latency of 5 µs, and 10 % a fifth."""
    table = idlewave.study.sensitivity(MACHINE, programs=[message()], factors=(), growths=(0.1, 0.01))
    said = plain(latency_bandwidth_page(table).findings[0][1])
    assert said.startswith("On 2 ranks L may grow to 1.02 times (5.09 µs) until the run is 1.0 % longer")
    assert "(5.99 µs) until 10 %; G may grow to 1.03 times" in said


def test_the_curve_is_in_the_order_of_its_factors_and_counts_say_of_what() -> None:
    table = idlewave.study.sensitivity(MACHINE, programs=[message()], factors=(4.0, 0.5), growths=(0.1,))
    rows = latency_bandwidth_page(table).tables[2].rows
    assert [row[3] for row in rows] == ["0.5", "1", "4"] * 2
    assert [row[6] for row in rows] == ["1 latency"] * 3 + ["1,000 bytes"] * 3


@pytest.mark.parametrize("growth", [0.01, 0.3, 5.0])
def test_a_tolerance_is_found_at_a_corner_and_at_a_jump(growth: float) -> None:
    corner = lambda factor: round(1e6 * max(1.0, factor / 3))  # noqa: E731 - a function of one line
    low, high = tolerated_factor(corner, growth)
    assert low <= 3 * (1 + growth) * (1 + 1e-6)
    assert high is not None
    assert high > 3 * (1 + growth) * (1 - 1e-6)
    assert high / low <= 1 + PRECISION
    low, high = tolerated_factor(lambda factor: 10 if factor < 7 else 1000, growth)
    assert high is not None
    assert low < 7 <= high <= low * (1 + PRECISION)


def test_as_published_sweep_and_halo_are_far_more_sensitive_to_bandwidth() -> None:
    table = idlewave.study.sensitivity("odin", programs=("sweep", "halo3d"), ranks=(16,), growths=(0.01,))
    assert [holds for _, _, holds in beside_published(table)] == ["yes", "yes"]


def test_dot_products_are_sensitive_to_latency() -> None:
    table = idlewave.study.sensitivity("odin", programs=("allreduce",), ranks=(16,), growths=(0.01,))
    assert [holds for _, _, holds in beside_published(table)] == ["no"]


def test_the_command_takes_a_schedule_and_writes_table_and_page(tmp_path: Path) -> None:
    message().save(tmp_path / "own.goal")
    words = ["study", "sensitivity", "own.goal", "--parameters", "L,G,o", "--growths", "0.1", "-o", "out"]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "1 latency and 1,000 bytes are on its critical path" in first.printed
    assert (tmp_path / "out/report.html").exists()
    assert len(pd.read_parquet(tmp_path / "out/study.parquet")) == 3 * (7 + 1)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"parameters": ("S",)}, "no parameter is called 'S'"),
        ({"parameters": ("L", "L")}, "different parameters"),
        ({"growths": (-0.1,)}, "each growth once"),
    ],
)
def test_what_is_no_study_is_refused(options: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        idlewave.study.sensitivity(**options)  # type: ignore[arg-type]

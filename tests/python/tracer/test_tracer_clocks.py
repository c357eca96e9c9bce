"""The tracer's clocks: planted offsets and drifts are found within the error that is stated."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from idlewave.trace import Trace, clock_table
from places import EXAMPLES, PROGRAMS, ROOT
from tracer_support import command_of, compiled, mpich, open_mpi, trace_of

PLANTED = ((0, 0), (1_000_000_000, 20_000), (-3_000_000, -5_000), (77, 100))
"""For each rank: how far its clock is ahead, ns; how much faster it runs, 10⁻⁹."""


@dataclass(frozen=True)
class Found:
    offset: int
    error: int
    at: int

    def off_by(self, planted: tuple[int, int]) -> float:
        """How far the offset is from the truth: the true clock, which is rank 0's, minus the skewed one."""
        ahead, ppb = planted
        true = (self.at - ahead) / (1 + Fraction(ppb, 10**9))
        return float(self.offset - (true - self.at))


def run(use, folder: Path, ranks: int, milliseconds: int) -> dict[int, list[Found]]:
    built = folder / "skewed_clocks"
    sources = [PROGRAMS / "skewed_clocks.c", ROOT / "tracer" / "clocksync.c"]
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", f"-I{ROOT / 'tracer'}"]
    subprocess.run([use.mpicc, *flags, *sources, "-o", built], check=True, timeout=120)
    skews = [number for planted in PLANTED[:ranks] for number in planted]
    done = subprocess.run(
        command_of(use, ranks, built, milliseconds, *skews),
        capture_output=True, text=True, check=True, timeout=300, env=use.environment(),
    )  # fmt: skip
    found = defaultdict(list)
    for line in done.stdout.splitlines():
        rank, *numbers = map(int, line.split())
        found[rank].append(Found(*numbers))
    return dict(found)


@pytest.mark.mpi
@pytest.mark.parametrize(("find", "ranks"), [(open_mpi, 4), (mpich, 2)])
def test_planted_offsets_are_found_within_the_error_at_both_ends(tmp_path: Path, find, ranks: int) -> None:
    found = run(find(), tmp_path, ranks, 200)
    assert sorted(found) == list(range(ranks))
    assert all(f.offset == f.error == 0 for f in found[0])
    for rank in range(1, ranks):
        for end in found[rank][:2]:
            # A nanosecond is lost where the skewed clock is put into whole ones.
            assert abs(end.off_by(PLANTED[rank])) <= end.error + 1
            assert end.error > 0


@pytest.mark.mpi
def test_ranks_of_a_node_read_one_clock_and_are_told_so(tmp_path: Path) -> None:
    for of_rank in run(open_mpi(), tmp_path, 4, 1).values():
        assert (of_rank[2].offset, of_rank[2].error) == (0, 0)


@pytest.mark.mpi
def test_planted_drifts_are_found_within_the_error_of_the_table(tmp_path: Path) -> None:
    found = run(open_mpi(), tmp_path, 4, 300)
    table = clock_table(processes([f[0] for _, f in sorted(found.items())], [f[1] for _, f in sorted(found.items())]))
    for row, (_, ppb) in zip(table.itertuples(), PLANTED, strict=True):
        truth = 1e6 * (1 / (1 + ppb * 1e-9) - 1)
        assert abs(row.drift_ppm - truth) <= row.drift_error_ppm + 1e-2
    assert table["drift_ppm"][0] == 0


def test_of_a_rank_that_did_not_finalize_only_the_offset_is_known() -> None:
    table = clock_table(processes([Found(5, 2, 1000)], [Found(0, 0, 0)]))
    assert table["offset_ns"][0] == 5
    assert table[["drift_ppm", "drift_error_ppm", "residual_ns"]].isna().all(axis=None)


def test_the_table_has_the_line_through_both_offsets_and_the_sum_of_their_errors() -> None:
    table = clock_table(processes([Found(100, 40, 1_000_000)], [Found(2100, 60, 1_001_000_000)]))
    row = table.iloc[0]
    assert (row["drift_ppm"], row["drift_error_ppm"], row["residual_ns"]) == pytest.approx((2.0, 0.1, 60))


def processes(begins: list[Found], ends: list[Found]) -> pd.DataFrame:
    """What the headers of a trace say of its clocks."""
    return pd.DataFrame(
        {
            "rank": np.arange(len(begins)),
            "host": "node",
            "clock_offset_ns": [f.offset for f in begins],
            "clock_error_ns": [f.error for f in begins],
            "clock_at_ns": [f.at for f in begins],
            "clock_end_offset_ns": [f.offset for f in ends],
            "clock_end_error_ns": [f.error for f in ends],
            "clock_end_at_ns": [f.at for f in ends],
        }
    )


@pytest.mark.mpi
def test_a_trace_says_how_well_its_clocks_are_known(tmp_path: Path) -> None:
    use = open_mpi()
    trace_of(tmp_path / "trace", use, 4, compiled(use.mpicc, EXAMPLES / "cg.c"), 24)
    table = Trace.load(tmp_path / "trace").clocks
    assert table["rank"].tolist() == [0, 1, 2, 3]
    # All ranks read this machine's one clock.
    assert (table[["offset_ns", "drift_ppm", "drift_error_ppm", "residual_ns"]] == 0).all(axis=None)

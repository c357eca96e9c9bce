"""The pairs of a job: planted nodes and switches are found, with their parameters; what is slow is named."""

from __future__ import annotations

import json
import math
import signal
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from idlewave import Machine, mpi
from idlewave.cli.measure_pairs_command import pairs as command
from idlewave.errors import InputError, MeasurementError
from idlewave.measure.network.job.latency_levels import find_structure
from idlewave.measure.network.job.pairs import SAMPLES, machine_of, measure_pairs, read_pairs, summarise
from pair_recordings import HOSTS, PARAMETERS, planted, recorded, synthetic
from tracer_support import mpich, open_mpi

pytestmark = pytest.mark.slow


def group_sizes(structure) -> list[set[int]]:
    return [{len(group) for group in level.groups} for level in structure.levels]


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize(
    ("shape", "latencies", "scatter"),
    [
        ((4, 4), (400, 1200), 0.10),
        ((16, 8), (400, 2000), 0.10),
        ((4, 4, 2), (400, 1200, 1700), 0.05),
        ((8, 4, 2), (400, 1200, 1500), 0.03),
        ((2, 4, 4), (300, 500, 1500), 0.05),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_planted_nodes_and_switches_are_found(shape, latencies, scatter, missing, seed) -> None:
    if missing and shape[0] == 2:
        missing = 0.1
    found = find_structure(planted(seed, shape, latencies, scatter, missing))
    assert group_sizes(found) == [{math.prod(shape[: i + 1])} for i in range(len(shape))]
    for level, latency in zip(found.levels, latencies, strict=True):
        assert level.latency_ns == pytest.approx(latency, rel=4 * scatter / math.sqrt(level.measured) + 0.02)
    blocks = np.arange(math.prod(shape)) // shape[0]
    assert all(len(set(blocks[list(group)])) == 1 for group in found.levels[0].groups)


@pytest.mark.parametrize("ranks", [2, 3, 4, 6, 8, 16, 64])
@pytest.mark.parametrize("scatter", [0.0, 0.03, 0.10])
def test_a_flat_matrix_has_one_level_and_nothing_slow(ranks: int, scatter: float) -> None:
    for seed in range(5):
        found = find_structure(planted(seed, (ranks,), (1000.0,), scatter))
        assert group_sizes(found) == [{ranks}]
        assert found.slow_ranks == found.slow_pairs == ()


def test_four_ranks_on_two_hosts_are_enough_where_levels_are_far_apart() -> None:
    found = find_structure(planted(1, (2, 2), (400, 1500), 0.05), ["a", "a", "b", "b"])
    assert [level.name for level in found.levels] == ["node", "network"]
    assert found.levels[0].groups == ((0, 1), (2, 3))
    assert found.levels[0].latency_ns < found.cuts_ns[0] < found.levels[1].latency_ns


def test_groups_that_are_the_hosts_are_nodes_in_whatever_order_ranks_are_placed() -> None:
    order = np.random.default_rng(3).permutation(16)
    matrix = planted(1, (4, 4), (400, 1200), 0.05)[np.ix_(order, order)]
    hosts = [f"node{r // 4}" for r in order]
    found = find_structure(matrix, hosts)
    assert found.levels[0].name == "node"
    assert found.notes == ()
    by_order = [hosts[r] for r in found.order]
    assert sum(one != other for one, other in pairwise(by_order)) == 3


def test_hosts_that_the_latencies_contradict_are_said() -> None:
    hosts = [f"node{r // 4}" for r in range(16)]
    one_level = find_structure(planted(1, (16,), (1000,), 0.05), hosts)
    assert one_level.notes == ("The ranks run on 4 hosts, but the latencies show one level only.",)
    sockets = find_structure(planted(1, (2, 8), (400, 1200), 0.05), hosts)
    assert sockets.notes == (
        "The innermost groups are not the hosts: node0, node1, node2, node3 are divided or joined.",
    )


def test_a_slow_rank_is_named_and_makes_no_level() -> None:
    matrix = planted(1, (16,), (1000,), 0.05)
    matrix[5, :] *= 2
    matrix[:, 5] *= 2
    found = find_structure(matrix)
    assert group_sizes(found) == [{16}]
    assert [rank for rank, _ in found.slow_ranks] == [5]
    assert found.slow_ranks[0][1] == pytest.approx(2, rel=0.1)
    assert found.slow_pairs == ()


def test_a_slow_rank_of_a_node_is_named_and_makes_no_level() -> None:
    matrix = planted(1, (8, 4, 2), (400, 1500, 2000), 0.05)
    matrix[7, :] *= 1.6
    matrix[:, 7] *= 1.6
    found = find_structure(matrix, [f"node{r // 8}" for r in range(64)])
    assert [level.name for level in found.levels] == ["node", "level 2", "network"]
    assert [rank for rank, _ in found.slow_ranks] == [7]


def test_a_slow_pair_is_named_on_its_level() -> None:
    matrix = planted(1, (8, 4), (400, 1200), 0.05)
    for a, b, times in ((3, 20, 3.0), (8, 9, 2.0)):
        matrix[a, b] *= times
        matrix[b, a] *= times
    found = find_structure(matrix)
    assert [(a, b) for a, b, _ in found.slow_pairs] == [(3, 20), (8, 9)]
    assert found.slow_ranks == ()


def test_a_pair_is_slow_only_if_its_interval_says_so_too() -> None:
    matrix = planted(1, (16,), (1000,), 0.05)
    matrix[3, 7] = matrix[7, 3] = 3000
    low = matrix * 0.95
    assert [(a, b) for a, b, _ in find_structure(matrix, None, low).slow_pairs] == [(3, 7)]
    low[3, 7] = low[7, 3] = 1000
    assert find_structure(matrix, None, low).slow_pairs == ()


def test_ranks_that_were_not_measured_and_parts_that_do_not_hang_together_are_said() -> None:
    matrix = planted(1, (6,), (1000,), 0.05)
    matrix[5, :] = matrix[:, 5] = np.nan
    matrix[:2, 2:] = matrix[2:, :2] = np.nan
    found = find_structure(matrix)
    assert found.ranks == (0, 1, 2, 3, 4)
    assert "No pair of rank 5 was measured." in found.notes
    assert any("fall into 2 parts" in note for note in found.notes)


# ---- from samples


def test_the_parameters_of_each_level_are_found(tmp_path: Path) -> None:
    found = read_pairs(recorded(tmp_path, synthetic(1, HOSTS), HOSTS))
    assert found.levels["level"].tolist() == ["node", "network"]
    assert found.levels["pairs"].tolist() == [12, 16]
    for row, (L, o, g, G) in zip(found.levels.itertuples(), PARAMETERS.values(), strict=True):
        assert row.latency_ns == pytest.approx(L + 2 * o, rel=0.02)
        assert row.o_ns == pytest.approx(o, rel=0.1)
        assert row.L_ns == pytest.approx(L, rel=0.2)
        assert row.g_ns == pytest.approx(g, rel=0.05)
        assert row.G_ns == pytest.approx(G, rel=0.02)
        assert row.latency_ns_25 <= row.latency_ns <= row.latency_ns_75
    assert found.notes == ()


def test_without_scatter_the_parameters_are_exact() -> None:
    table = summarise(synthetic(1, ["x", "x"], scatter=0.0))
    L, o, g, G = PARAMETERS["near"]
    row = table.iloc[0]
    assert row[["a", "b", "n"]].tolist() == [0, 1, 40]
    assert row[["L_ns", "o_ns", "g_ns", "G_ns"]].tolist() == pytest.approx([L, o, g, G])
    assert row[["low_ns", "latency_ns", "high_ns"]].tolist() == pytest.approx([L + 2 * o] * 3)
    assert row["visits_apart"] == 1


def test_two_levels_become_a_machine_with_nodes(tmp_path: Path) -> None:
    found = read_pairs(recorded(tmp_path, synthetic(1, HOSTS), HOSTS))
    machine = Machine.from_toml(machine_of(found, "ours").to_toml())
    assert machine.node is not None
    assert machine.node_ranks == 4
    near, far = machine.node.parameters, machine.network.parameters
    assert near.L + near.o_s + near.o_r == pytest.approx(350_000, rel=0.02)
    assert far.L + far.o_s + far.o_r == pytest.approx(1_400_000, rel=0.02)
    assert 490 < far.G < 510


def test_groups_that_are_no_blocks_make_no_machine_and_it_is_said_why(tmp_path: Path) -> None:
    hosts = ["x", "y"] * 4
    found = read_pairs(recorded(tmp_path, synthetic(1, hosts), hosts))
    with pytest.raises(MeasurementError, match=r"no blocks of as many ranks each.*the first is rank 0, 2, 4, 6"):
        machine_of(found)


def test_an_interrupted_recording_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    samples = synthetic(1, HOSTS)
    met = samples[["a", "b"]].max(axis=1) < 7
    recorded(tmp_path, samples[met], HOSTS, interrupted=True)
    file = tmp_path / "pairs.csv"
    file.write_text(file.read_text()[:-7])
    found = read_pairs(tmp_path)
    assert len(found.pairs) == 21
    assert "No pair of rank 7 was measured." in found.notes
    assert any("interrupted" in note for note in found.notes)
    assert any("Of 28 pairs 21 were visited" in note for note in found.notes)


@pytest.mark.parametrize(
    "only",
    [
        {"a": 0, "b": 1, "series": "train"},
        {"a": 0, "b": 1, "series": ["train", "rtt"], "size": [1, 65536], "n": [8, 1]},
        {"a": 0, "b": 1, "series": "rtt", "value_ns": 0.0},
    ],
)
def test_a_recording_without_a_round_trip_is_no_measurement(tmp_path: Path, only: dict[str, object]) -> None:
    begun = pd.DataFrame({"size": 1, "n": 8, "visit": 0, "delay_ns": 0.0, "value_ns": 1234.0} | only, index=range(2))
    recorded(tmp_path, begun.assign(start_ns=0, disturbed=0), ["x", "x"])
    with pytest.raises(MeasurementError, match="of no pair a round trip of the smallest size was measured"):
        read_pairs(tmp_path)


def test_what_is_no_recording_is_refused_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pairs\.json: cannot be read"):
        read_pairs(tmp_path)
    recorded(tmp_path, synthetic(1, HOSTS), HOSTS[:4])
    with pytest.raises(InputError, match="ranks beyond the 4"):
        read_pairs(tmp_path)
    recorded(tmp_path, synthetic(1, HOSTS).drop(columns="visit"), HOSTS)
    with pytest.raises(InputError, match=r"pairs\.csv: lacks the columns visit"):
        read_pairs(tmp_path)
    (tmp_path / "pairs.csv").write_text(",".join(SAMPLES) + "\n0,1,many,rtt,1,0,0,5,0,0\n")
    with pytest.raises(
        InputError, match=r"pairs\.csv: size: row 1: expected a whole number from 0 to .*, found 'many'"
    ):
        read_pairs(tmp_path)
    for row, said in (
        ("0,1,1,rtt,1,0,0,nan,0,0", "value_ns: row 1: expected a number .*, found nan"),
        ("0,1,1,rtt,1,0,0,5,0,no", "disturbed: row 1: expected a whole number"),
    ):
        (tmp_path / "pairs.csv").write_text(",".join(SAMPLES) + f"\n{row}\n")
        with pytest.raises(InputError, match=said):
            read_pairs(tmp_path)
    (tmp_path / "pairs.csv").write_text(",".join(SAMPLES) + "\n")
    with pytest.raises(MeasurementError, match="no pair was measured"):
        read_pairs(tmp_path)


def test_where_pairs_were_measured_is_read_from_beside_the_recording(tmp_path: Path) -> None:
    recorded(tmp_path, synthetic(1, HOSTS), HOSTS)
    assert read_pairs(tmp_path).environment is None
    (tmp_path / "environment.json").write_text('{"host": "there"}')
    assert read_pairs(tmp_path).environment == {"host": "there"}


def test_the_command_shows_a_recording_as_table_json_plot_and_machine(tmp_path: Path) -> None:
    recorded(tmp_path, synthetic(1, HOSTS), HOSTS)
    picture, toml = tmp_path / "pairs.png", tmp_path / "machine.toml"
    outputs = ["--json", "--plot", str(picture), "--machine", str(toml)]
    done = CliRunner().invoke(command, ["--from", str(tmp_path), *outputs])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert [level["level"] for level in said["levels"]] == ["node", "network"]
    assert said["levels"][0]["groups"] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert len(said["pairs"]) == 28
    assert picture.stat().st_size > 10_000
    assert Machine.load(toml).node_ranks == 4
    shown = CliRunner().invoke(command, ["--from", str(tmp_path)])
    assert "node: ranks 0, 1, 2, 3; 4, 5, 6, 7" in shown.output


# ---- the probe


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.parametrize(("find", "ranks"), [(open_mpi, 4), (mpich, 2)])
def test_all_pairs_of_a_job_are_visited_with_every_series_and_both_ranks_as_clients(find, ranks: int) -> None:
    found = measure_pairs(ranks, find(), seconds=20, visits=2)
    assert found.pairs[["a", "b"]].to_numpy().tolist() == [[a, b] for a in range(ranks) for b in range(a + 1, ranks)]
    series = found.samples.groupby(["a", "b"])[["series", "size"]].apply(lambda t: len(t.drop_duplicates()))
    assert (series == 7).all()
    assert len(series) == ranks * (ranks - 1)
    assert (found.samples["value_ns"] > 0).all()
    assert np.isfinite(found.matrix[~np.eye(ranks, dtype=bool)]).all()
    assert sum(len(group) for group in found.structure.levels[0].groups) == ranks
    assert not found.probe["interrupted"]


def together(samples: pd.DataFrame) -> list[tuple[set[int], set[int]]]:
    """Which pairs were measured at the same time: their spans overlap by more than half of the shorter one.

    Ranks of one machine read one clock, and begin to count when a barrier lets them go: at about the same time.
    """
    spans = samples.groupby(["a", "b"])["start_ns"].agg(["min", "max"])
    rows = [({*pair}, low, high) for pair, (low, high) in zip(spans.index, spans.to_numpy(), strict=True)]
    return [
        (one, other)
        for i, (one, low, high) in enumerate(rows)
        for other, begin, end in rows[i + 1 :]
        if min(high, end) - max(low, begin) > 0.5 * min(high - low, end - begin)
    ]


@pytest.mark.long
@pytest.mark.mpi
def test_in_serial_mode_one_pair_talks_at_a_time() -> None:
    found = measure_pairs(4, open_mpi(), seconds=10, visits=1)
    assert len(found.pairs) == 6
    assert together(found.samples) == []


@pytest.mark.alone
@pytest.mark.mpi
def test_concurrent_pairs_of_a_round_are_disjoint_and_talk_at_once() -> None:
    found = measure_pairs(4, open_mpi(), seconds=1.5, visits=1, concurrent=True)
    assert found.probe["mode"] == "concurrent"
    assert found.probe["rounds"] == 3
    assert len(found.pairs) == 6
    at_once = together(found.samples)
    assert at_once
    assert all(not one & other for one, other in at_once)


@pytest.mark.mpi
@pytest.mark.long
def test_a_sample_of_pairs_joins_all_ranks_and_is_the_same_for_the_same_seed() -> None:
    use = open_mpi()
    found = [measure_pairs(4, use, seconds=10, pairs=3, visits=1, seed=seed) for seed in (1, 1, 2, 3)]
    chosen = [{tuple(pair) for pair in one.pairs[["a", "b"]].to_numpy().tolist()} for one in found]
    assert all(len(pairs) == 3 for pairs in chosen)
    assert chosen[0] == chosen[1]
    assert any(pairs != chosen[0] for pairs in chosen)
    assert all({rank for pair in pairs for rank in pair} == set(range(4)) for pairs in chosen)
    assert len(measure_pairs(4, use, seconds=10, pairs=5, visits=1).pairs) == 5  # two more than join the ranks
    assert not any("parts" in note for note in found[0].notes)


@pytest.mark.mpi
def test_an_interrupt_keeps_the_samples(tmp_path: Path) -> None:
    use = open_mpi()
    line = [use.mpiexec, "-n", "3", mpi.build(use, "pairs"), "--output", tmp_path]
    process = subprocess.Popen(
        [*line, "--seconds", "60", "--visits", "1000", "--precision", "0.0001"],
        stdout=subprocess.PIPE, text=True, env=use.environment(),
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(4):
        assert process.stdout.readline().startswith("progress")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    found = read_pairs(tmp_path)
    assert found.probe["interrupted"]
    assert len(found.pairs) == 3

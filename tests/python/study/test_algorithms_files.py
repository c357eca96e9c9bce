"""The files of rules that `idlewave study algorithms` writes: the converter and Open MPI choose by them as it did."""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from command_runs import run
from idlewave import Schedule
from idlewave.algorithm_choice import rules_named
from idlewave.algorithm_rules import core_rules
from idlewave.open_mpi_file import OPEN_MPI_COLLECTIVES, open_mpi_calls
from idlewave.open_mpi_rules import open_mpi_rules
from idlewave.studies.decision_tables import (
    NOISY,
    QUIET,
    allowed_in,
    chosen,
    decision_files,
    decision_table,
    times_by_collective,
)
from small_machine import study
from trace_files import write_trace
from tracer_support import command_of, open_mpi, program


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Path]:
    folder = tmp_path_factory.mktemp("small")
    names = ("allgather", "allreduce", "alltoall", "barrier", "bcast", "exscan", "gather", "reduce", "reduce_scatter")
    options = {"ranks": (2, 3, 4, 6), "sizes": (480, 15_360, 245_760), "segments": (8192,)}
    table = study(collectives=(*names, "scan", "scatter"), **options)
    for name, text in decision_files(table).items():
        (folder / name).write_text(text)
    return table, folder


def test_the_converter_follows_the_rules_that_were_written(small: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    table, folder = small
    read = core_rules(rules_named(str(folder / "rules.csv")))
    for name, times in times_by_collective(table, QUIET).items():
        rules = decision_table(times)
        for ranks in times.ranks:
            for size in times.sizes:
                assert read.algorithm(name, ranks, size) == chosen(rules, ranks, size).algorithm
    trace = write_trace(tmp_path / "trace")
    done = run("simulate", str(trace), "-m", "odin", "-a", str(folder / "rules.csv"), "--json")
    expected = chosen(decision_table(times_by_collective(table, QUIET)["allreduce"]), 2, 64).algorithm
    assert json.loads(done.stdout)["collectives"]["calls"] == {"allreduce": {expected: 3}}


def test_segments_are_written_for_the_converter(small: tuple[pd.DataFrame, Path]) -> None:
    table, folder = small
    times = times_by_collective(table, QUIET)["bcast"]
    variant = chosen(decision_table(times), 6, 245_760)
    assert variant.segment == 8192
    rules = rules_named(str(folder / "rules.csv"))
    made = Schedule.pattern("bcast", ranks=6, bytes=245_760, rules=rules)
    named = Schedule.pattern("bcast", ranks=6, bytes=245_760, algorithm=variant.algorithm, segment=8192)
    assert made.to_goal().splitlines()[2:] == named.to_goal().splitlines()[2:]


def test_open_mpis_file_chooses_the_fastest_that_open_mpi_has(small: tuple[pd.DataFrame, Path]) -> None:
    table, folder = small
    file = folder / "open-mpi.conf"
    found = open_mpi_rules(file, file.read_bytes())
    assert found.nearest == (), "only algorithms that are the same"
    assert found.unused == ("reduce_scatter",)
    read = core_rules(found.rules)
    known = times_by_collective(table, QUIET)
    for own in OPEN_MPI_COLLECTIVES:
        times = known[own.collective]
        for ranks in times.ranks:
            for size in times.sizes if own.name != "reduce_scatter" and own.counts_size else ():
                names = {variant.algorithm for variant in times.good(ranks, size, allowed_in(own))}
                assert read.algorithm(own.collective, ranks, size) in names


def test_what_open_mpi_lacks_is_said_in_its_file(small: tuple[pd.DataFrame, Path]) -> None:
    said = (small[1] / "open-mpi.conf").read_text()
    assert "# barrier: no algorithm of Open MPI is nway_dissemination, the fastest for" in said
    assert re.search(r"# reduce_scatter_block: no algorithm of Open MPI is \w+, the fastest for \d+ of 12 calls", said)


def messages_of(goal: str) -> Counter[tuple[int, int, int]]:
    """Of a schedule: sender, receiver, bytes."""
    found: Counter[tuple[int, int, int]] = Counter()
    rank = 0
    for line in goal.splitlines():
        if begin := re.match(r"rank (\d+)", line):
            rank = int(begin[1])
        if send := re.search(r"send (\d+)b to (\d+)", line):
            found[rank, int(send[2]), int(send[1])] += 1
    return found


def degrees(messages: dict[tuple[int, int], tuple[int, int]]) -> list[tuple[int, ...]]:
    """Messages and bytes that each rank sends and receives, whatever its number: trees may number their ranks in
    different ways."""
    found: dict[int, list[int]] = {}
    for (sender, receiver), (count, size) in messages.items():
        for rank, at in ((sender, 0), (receiver, 2)):
            row = found.setdefault(rank, [0, 0, 0, 0])
            row[at] += count
            row[at + 1] += size
    return sorted(map(tuple, found.values()))


def simulated(collective: str, ranks: int, size: int, **options: object) -> list[tuple[int, ...]]:
    goal = Schedule.pattern(collective, ranks=ranks, bytes=size, **options).to_goal()  # type: ignore[arg-type]
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for (sender, receiver, length), count in messages_of(goal).items():
        known = pairs.get((sender, receiver), (0, 0))
        pairs[sender, receiver] = (known[0] + count, known[1] + count * length)
    return degrees(pairs)


def sent_by_open_mpi(calls: list[tuple[str, int, int]], **mca: object) -> list[list[tuple[int, ...]]]:
    """What Open MPI's own monitoring counts in these calls on up to six ranks, with these settings."""
    settings = {"pml_monitoring_enable": 1, "coll": "^han,sm,adapt", **mca}
    environment = open_mpi().environment() | {f"OMPI_MCA_{name}": str(value) for name, value in settings.items()}
    words = [word for call in calls for word in call]
    command = command_of(open_mpi(), 6, program(open_mpi(), "collective_messages"), *words)
    command.insert(1, "--oversubscribe")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    found: list[dict[tuple[int, int], tuple[int, int]]] = [{} for _ in calls]
    for line in done.stdout.splitlines():
        number, sender, receiver, count, size = map(int, line.split())
        found[number][sender, receiver] = (count, size)
    return [degrees(messages) for messages in found]


def test_open_mpi_sends_the_messages_of_the_algorithms_that_were_written(small: tuple[pd.DataFrame, Path]) -> None:
    table, folder = small
    file = folder / "open-mpi.conf"
    known = times_by_collective(table, QUIET)
    calls, expected = [], []
    for own in OPEN_MPI_COLLECTIVES:
        times = known[own.collective]
        rules = decision_table(times, allowed_in(own), by_size=own.counts_size)
        for ranks in times.ranks:
            for size in times.sizes:
                calls.append((own.name, ranks, size))
                variant = chosen(rules, ranks, size)
                options = {"algorithm": variant.algorithm, "segment": variant.segment}
                expected.append(simulated(own.collective, ranks, size, **options))
    names = {"coll_tuned_use_dynamic_rules": 1, "coll_tuned_dynamic_rules_filename": file}
    sent = sent_by_open_mpi(calls, **names)
    wrong = [call for call, found, right in zip(calls, sent, expected, strict=True) if found != right]
    assert wrong == []
    by_itself = sent_by_open_mpi(calls)
    changed = {call[0] for call, found, own in zip(calls, sent, by_itself, strict=True) if found != own}
    assert {"alltoall", "bcast", "reduce", "scan"} & changed, "the file has changed what Open MPI does"


def test_open_mpi_calls_other_algorithms_and_sends_the_messages_of_others_where_we_say_so() -> None:
    calls = [("allgather", 3, 480), ("allgather", 4, 480), ("allreduce", 6, 8), ("allreduce", 6, 480)]
    same = [("alltoall", 6, 480), ("barrier", 4, 0), ("scatter", 6, 480)]
    numbers = {"allgather": 3, "allreduce": 4, "alltoall": 4, "barrier": 3, "scatter": 3}
    forced = {f"coll_tuned_{name}_algorithm": number for name, number in numbers.items()}
    sent = sent_by_open_mpi([*calls, *same], coll_tuned_use_dynamic_rules=1, **forced)
    by = {"allgather": "recursive_doubling", "allreduce": "ring"}
    names = [open_mpi_calls(name, by[name], ranks, size) for name, ranks, size in calls]
    assert names == ["bruck", "recursive_doubling", "recursive_doubling", "ring"]
    names += ["linear", "dissemination", "linear"]
    for (collective, ranks, size), name, found in zip([*calls, *same], names, sent, strict=True):
        assert found == simulated(collective, ranks, size, algorithm=name)


@pytest.mark.parametrize(
    ("collective", "small", "large"),
    [
        ("allgather", "bruck", "ring"),
        ("alltoall", "bruck", "linear"),
        ("gather", "binomial", "linear"),
        ("scatter", "binomial", "linear"),
    ],
)
def test_open_mpi_chooses_by_the_file_what_the_study_decided_wherever_it_timed(
    collective: str, small: str, large: str, tmp_path: Path
) -> None:
    """Another algorithm is faster from 611 B on, on 20 ranks as on 24; Open MPI counts the blocks of all ranks."""
    sizes = (8, 512, 4096)
    times = {small: (100, 100, 500), large: (200, 111, 111)}
    rows = [
        (collective, ranks, size, name, 0, time, 0, math.nan, math.nan, "made up")
        for ranks in (20, 24)
        for name, own in times.items()
        for size, time in zip(sizes, own, strict=True)
    ]
    names = ["collective", "ranks", "bytes", "algorithm", "segment", QUIET, "seeds", NOISY, "error_ps", "machine"]
    table = pd.DataFrame(rows, columns=names)
    decided = decision_table(times_by_collective(table, QUIET)[collective])
    assert [(rule.ranks, rule.bytes, rule.algorithm) for rule in decided] == [(20, 0, small), (20, 611, large)]
    file = tmp_path / "open-mpi.conf"
    file.write_text(decision_files(table)["open-mpi.conf"])
    read = open_mpi_rules(file, file.read_bytes()).rules
    rules = [rule for rule in read if rule.collective == collective and not rule.fallback]
    for ranks in (20, 24):
        for size in (*sizes, 610, 611):
            assert chosen(rules, ranks, size * ranks).algorithm == chosen(decided, ranks, size).algorithm, (ranks, size)

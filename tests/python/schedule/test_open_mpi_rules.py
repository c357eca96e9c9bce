"""The file of rules that Open MPI itself reads."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from command_runs import run
from idlewave import InputError, Machine, Schedule
from idlewave.algorithm_choice import choice_named, rules_named
from idlewave.algorithm_rules import AlgorithmRule, core_rules
from idlewave.open_mpi_rules import open_mpi_rules
from tracer_support import command_of, open_mpi, program

RULES = """\
rule-file-version-2
# for our cluster
3 # collectives
2 # allreduce
2 # communicator sizes
2 1
0 3 0 0
5 2
0 0 0 0      # Open MPI's own choice
4096 4 0 0
7 1 # bcast
0 1
0 3 0 16384
3 1 # alltoall
4 2
0 3 0 0 2    # with the most requests
1024 2 0 0
"""


def file_of(folder: Path, text: str) -> Path:
    (folder / "rules.conf").write_text(text)
    return folder / "rules.conf"


def chosen(file: Path, collective: str, ranks: int, size: int) -> str | None:
    return core_rules(rules_named(str(file))).algorithm(collective, ranks, size)


def test_the_last_rule_that_a_call_reaches_chooses_its_algorithm(tmp_path: Path) -> None:
    file = file_of(tmp_path, RULES)
    assert chosen(file, "allreduce", 2, 1 << 20) == "recursive_doubling"
    assert chosen(file, "allreduce", 8, 4096) == "ring"
    assert chosen(file, "bcast", 2, 1) == "chain"
    assert chosen(file, "alltoall", 4, 255) == "bruck"
    assert chosen(file, "alltoall", 4, 256) == "pairwise", "Open MPI counts the blocks of all ranks"
    assert chosen(file, "alltoall", 2, 511) == "bruck", "the first rule holds for fewer ranks, too"


def test_what_the_file_leaves_open_is_open_mpis_own_choice(tmp_path: Path) -> None:
    file = file_of(tmp_path, RULES)
    own = core_rules(rules_named("openmpi"))
    for ranks, size in ((5, 0), (8, 100), (64, 4095), (256, 16)):
        assert chosen(file, "allreduce", ranks, size) == own.algorithm("allreduce", ranks, size)
        assert chosen(file, "reduce", ranks, size) == own.algorithm("reduce", ranks, size)
    assert chosen(file_of(tmp_path, "1\n14 1\n0 1\n0 0 0 0"), "scan", 8, 8) == "linear"


MARKED = {
    "allreduce": ("2  3  2 2  0 3 0 0  100 MARK 0 0   3 1  0 3 0 0   4 1  0 MARK 0 0", 6, "rabenseifner"),
    "allgather": ("0  1  0 3  0 4 0 0  1000 MARK 0 0  4000 4 0 0", 2, "bruck"),
    "alltoall": ("3  1  2 2  0 1 0 0  300 MARK 0 0", 3, "bruck"),
    "barrier": ("6  1  3 2  0 1 0 0  1 MARK 0 0", 6, "tree"),
    "bcast": ("7  3  3 1  0 MARK 0 0   4 2  0 1 0 0  64 MARK 0 0   2 1  0 6 0 0", 9, "scatter_allgather"),
    "gather": ("9  1  0 4  0 1 0 0  400 MARK 0 0  1600 MARK 0 0  800 1 0 0", 2, "binomial"),
    "reduce": ("11  1  0 2  0 1 0 0  512 MARK 0 0", 7, "rabenseifner"),
    "scatter": ("15  1  0 2  0 1 0 0  1600 MARK 0 0", 2, "binomial"),
    "scan": ("14  1  0 2  0 1 0 0  28 MARK 0 0", 2, "recursive_doubling"),
}
"""Of each collective the rules, with a mark for an algorithm; and which one stands there for the simulation."""


def test_open_mpi_and_the_simulation_apply_the_same_rules(tmp_path: Path) -> None:
    """Where Open MPI is given an algorithm that it has not, it refuses the calls that follow that rule."""
    lines = [f"{len(MARKED)}", *(rules for rules, _, _ in MARKED.values())]
    given = file_of(tmp_path, "\n".join(lines).replace("MARK", "99"))
    ours = [f"{len(MARKED)}", *(rules.replace("MARK", str(mark)) for rules, mark, _ in MARKED.values())]
    (tmp_path / "ours.conf").write_text("\n".join(ours))
    sizes = (8, 64, 96, 104, 512, 1000, 1600, 4000)
    mca = {"coll_tuned_use_dynamic_rules": 1, "coll_tuned_dynamic_rules_filename": given, "coll": "^han"}
    command = command_of(open_mpi(), 4, program(open_mpi(), "refused_collectives"), *sizes)
    environment = open_mpi().environment() | {f"OMPI_MCA_{name}": str(value) for name, value in mca.items()}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    refused = {tuple(line.split()) for line in done.stdout.splitlines()}
    followed = {
        (collective, str(ranks), str(size))
        for collective, (_, _, name) in MARKED.items()
        for ranks in (2, 3, 4)
        for size in sizes
        if chosen(tmp_path / "ours.conf", collective, ranks, size) == name
    }
    assert followed == refused
    assert {row[0] for row in followed} == set(MARKED) - {"barrier"}


def test_the_file_is_an_option_like_any_other_set_of_rules(tmp_path: Path) -> None:
    file = file_of(tmp_path, RULES)
    for size, algorithm in ((100, "bruck"), (1000, "pairwise")):
        goal = tmp_path / f"{size}.goal"
        done = run("schedule", "alltoall", "--ranks", "8", "--bytes", str(size), "-a", str(file), "-o", str(goal))
        assert done.returncode == 0, done.stderr
        said = " ".join(done.stderr.split())
        assert said.count("Open MPI's rules for allreduce, bcast and alltoall; for all else its own choice") == 1
        assert said.count("collectives by") == 1
        assert f"collectives by the rules in {file}" in said
        expected = Schedule.pattern("alltoall", ranks=8, bytes=size, algorithm=algorithm)
        assert Schedule.load(goal).to_goal() == expected.to_goal()


def test_segments_are_those_of_the_file(tmp_path: Path) -> None:
    file = file_of(tmp_path, RULES)
    made = Schedule.pattern("bcast", ranks=4, bytes=1 << 16, rules=rules_named(str(file)))
    expected = Schedule.pattern("bcast", ranks=4, bytes=1 << 16, algorithm="chain", segment=16384)
    assert made.to_goal().splitlines()[2:] == expected.to_goal().splitlines()[2:]


def test_what_stands_for_another_algorithm_and_what_is_not_used_is_said(tmp_path: Path) -> None:
    file = file_of(tmp_path, "2\n7 1\n0 1\n0 7 4 0\n4 1\n0 1\n0 2 0 0\n")
    found = open_mpi_rules(file, file.read_bytes())
    assert found.nearest == ("bcast knomial (binomial)",)
    assert found.unused == ("alltoallv",)
    assert [rule.algorithm for rule in found.rules if not rule.fallback] == ["binomial"]
    assert "rules for alltoallv are not used" in " ".join(found.notes())


@pytest.mark.parametrize("text", ["0\n", "1\n4 1\n0 1\n0 2 0 0\n"])
def test_a_file_may_have_rules_for_no_collective_that_follows_them(text: str, tmp_path: Path) -> None:
    choice = choice_named(str(file_of(tmp_path, text)))
    assert choice.notes[0] == "Open MPI's rules for no collective; for all else its own choice"
    assert all(rule.fallback for rule in choice.rules)
    done = run("simulate", "bcast", "--ranks", "4", "-m", "odin", "-a", str(tmp_path / "rules.conf"))
    assert done.returncode == 0, done.stderr


def test_such_rules_are_kept_in_a_machine(tmp_path: Path) -> None:
    rules = rules_named(str(file_of(tmp_path, RULES)))
    written = Machine.from_toml(replace(Machine.preset("odin"), algorithm_rules=rules).to_toml())
    assert written.algorithm_rules == rules
    assert AlgorithmRule("allreduce", "", ranks=5, segment=0, of_library=True) in rules


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1\n7 1\n0 1\n0 10 0 0\n", "line 4: expected an algorithm of bcast from 0 to 9, found 10"),
        ("1\n6 1\n0 1\n0 2 0 0\n", r"line 4: barrier by algorithm 2 \(double_ring\), to which no algorithm"),
        ("1\n7 1\n0 1\n8 1 0 0\n", "line 4: expected the first message size of bcast to be 0, found 8"),
        ("1\n7 1\n0 2\n0 1 0 0\n", "line 4: expected the size of a message, and the file ends"),
        ("1\n77 1\n", "line 2: expected the number of a collective, from 0 to 21, found 77"),
        ("40\n", "line 1: expected the number of collectives, from 0 to 22, found 40"),
        ("1\n7 1\n0 1\n0 -1 0 0\n", "line 4: expected an algorithm of bcast, from 0 to .*, found -1"),
        ("# nothing\n", "expected the number of collectives, and the file ends"),
        ('{"collectives": {}}', "in JSON, which are not read"),
    ],
)
def test_what_open_mpi_would_refuse_or_the_simulator_lacks_is_named(text: str, words: str, tmp_path: Path) -> None:
    file = file_of(tmp_path, text)
    with pytest.raises(InputError, match=words) as raised:
        rules_named(str(file))
    assert str(file) in str(raised.value)
    done = run("simulate", "bcast", "--ranks", "4", "--bytes", "8", "-m", "odin", "-a", str(file))
    assert done.returncode == 1


def test_numbers_and_comments_are_read_as_open_mpi_reads_them(tmp_path: Path) -> None:
    text = "1 # 2\n7 1 bcast\n0x0 1\n0 6 0 0\n"
    assert chosen(file_of(tmp_path, text), "bcast", 4, 8) == "binomial"
    assert chosen(file_of(tmp_path, "1\n7 1\n0 2\n0 6 0 0\n010 5 0 0\n"), "bcast", 4, 8) == "binary", (
        "octal, as C has it"
    )
    first = "rule-file-version-1\n1\n3 1\n0 2\n0 2 0 0\n5 3 0 0\n"
    assert chosen(file_of(tmp_path, first), "alltoall", 8, 8) == "bruck", "version 1 has four numbers a rule"

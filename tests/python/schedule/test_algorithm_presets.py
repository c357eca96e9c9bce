"""The algorithms of a library's own choice, or of a file, for all collectives that are not named."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_runs import run
from idlewave import Schedule
from idlewave.algorithm_choice import rules_named
from idlewave.algorithm_tables import LIBRARIES, Library
from idlewave.errors import InputError
from trace_files import write_trace


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.option)
def test_a_pattern_takes_what_the_library_chooses_for_its_ranks_and_size(library: Library, tmp_path: Path) -> None:
    for size in (8, 1 << 20):
        file = tmp_path / f"{size}.goal"
        words = ("--ranks", "16", "--bytes", str(size), "-a", library.option, "-o", str(file))
        done = run("schedule", "allreduce", *words)
        assert done.returncode == 0, done.stderr
        assert f"collectives by the choices of {library.title}" in done.stderr
        expected = Schedule.pattern("allreduce", ranks=16, bytes=size, rules=rules_named(library.option))
        assert Schedule.load(file).to_goal() == expected.to_goal()
    small, large = (Schedule.load(tmp_path / f"{size}.goal").to_goal() for size in (8, 1 << 20))
    assert small.count("send") != large.count("send"), "the choice depends on the size"


def test_a_named_algorithm_comes_before_the_library(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace")
    for choice in ("allreduce=reduce_bcast", "allreduce=ring"):
        file = tmp_path / f"{choice}.goal"
        done = run("schedule", str(trace), "-a", "mpich", "-a", choice, "-o", str(file))
        assert done.returncode == 0, done.stderr
        named = Schedule.from_trace(trace, algorithms=dict([choice.split("=")]))
        assert Schedule.load(file).to_goal() == named.to_goal()


def test_rules_of_ones_own_come_from_a_file(tmp_path: Path) -> None:
    rules = tmp_path / "own.csv"
    rules.write_text("collective,ranks,bytes,algorithm\nbcast,2,0,linear\nbcast, 2,1000\t,chain\n")
    for size, algorithm in ((10, "linear"), (1000, "chain")):
        file = tmp_path / f"{size}.goal"
        done = run("schedule", "bcast", "--ranks", "8", "--bytes", str(size), "-a", str(rules), "-o", str(file))
        assert done.returncode == 0, done.stderr
        expected = Schedule.pattern("bcast", ranks=8, bytes=size, algorithm=algorithm)
        assert Schedule.load(file).to_goal() == expected.to_goal()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "collective,ranks,bytes,algorithm\nbcast,two,0,linear\n",
            "line 2: ranks: expected a whole number of at most 18 digits, found 'two'",
        ),
        (
            "collective,ranks,bytes,algorithm\nbcast,2,102\x1f,linear\n",
            "line 2: bytes: expected a whole number of at most 18 digits, found '102",
        ),
        ("collective,ranks,bytes,algorithm\nbcast,2,,linear\n", "line 2: expected collective, ranks, bytes"),
        ("collective,ranks\nbcast,2\n", "line 2: expected collective, ranks, bytes"),
        ("ranks,bytes,algorithm,collective\n2,0,linear\n", "line 2: expected collective, ranks, bytes"),
        ("collective,ranks,bytes,algorithm\n", "expected rules in the columns"),
        ("collective,ranks,bytes,algorithm\nbcast,2,0,magic\n", "rules.csv: no algorithm for bcast is called 'magic'"),
        (
            "collective,ranks,bytes,algorithm\nbcast,-2,0,chain\n",
            "rules.csv: a rule for bcast: expected ranks from 1 to",
        ),
        (
            f"collective,ranks,bytes,algorithm\n{'x' * 5000},0,0,chain\n",
            f"a rule for {'x' * 200}…: expected ranks from 1",
        ),
        (f"collective,ranks,bytes,algorithm\nbcast,{'9' * 4000},0,chain\n", f"found '{'9' * 200}…"),
    ],
)
def test_what_is_wrong_with_a_file_of_rules_is_named(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "rules.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        rules_named(str(tmp_path / "rules.csv"))
    done = run("simulate", "bcast", "--ranks", "4", "-m", "odin", "-a", str(tmp_path / "rules.csv"))
    assert done.returncode == 1
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize("name", ["own.csv", "own.conf"])
def test_rules_in_what_is_no_file_and_in_columns_without_end_are_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    with pytest.raises(InputError, match=f"{name}: cannot be read as rules of algorithms"):
        rules_named(str(file))
    file.symlink_to("/dev/zero")
    with pytest.raises(InputError, match=f"{name}: cannot be read as rules of .*: expected a file, found a device"):
        rules_named(str(file))
    file.unlink()
    file.write_text('collective,ranks,bytes,algorithm\nbcast,2,0,"' + "x" * 200_000)
    with pytest.raises(InputError, match=f"{name}, line 2: expected columns of CSV"):
        rules_named(str(file))


def test_two_sets_of_rules_and_an_unknown_word_are_refused(tmp_path: Path) -> None:
    trace = str(write_trace(tmp_path / "trace"))
    twice = run("simulate", trace, "-m", "odin", "-a", "mpich", "-a", "openmpi")
    assert twice.returncode == 2
    assert "names rules for all collectives twice: mpich and openmpi" in " ".join(twice.stderr.split())
    unknown = run("simulate", trace, "-m", "odin", "-a", "lam")
    assert unknown.returncode == 2
    assert "or openmpi, mpich or a file of rules" in " ".join(unknown.stderr.split())

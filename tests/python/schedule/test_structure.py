"""Programs that are traced on 4, 8 and 16 ranks, and continued to 64 by their structure: they do what they do when they
are traced on 64, message for message."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import idlewave
import pytest
from command_runs import run
from idlewave import Machine, Schedule
from idlewave.errors import InputError, UsageError
from tracer_support import mpich, program, trace_of

SIZES = (4, 8, 16)
LARGE = 64
QUICK = ("sweep",)
ON_GRIDS = ("cg", "ft", "halo2d", "torus2d", "torus3d", "transpose", "transpose-at-once")
LONG = (*ON_GRIDS, "halo3d", "ring", "hypercube", "tree", "star")


def traced(folder: Path, structure: str, sizes: tuple[int, ...] = (*SIZES, LARGE)) -> dict[int, Schedule]:
    executable = program(mpich(), "structures")
    schedules = {}
    for ranks in sizes:
        trace_of(folder / f"{structure}-{ranks}", mpich(), ranks, executable, structure, 3)
        schedules[ranks] = Schedule.from_trace(folder / f"{structure}-{ranks}")
    return schedules


def messages(schedule: Schedule) -> list[list[tuple[str, ...]]]:
    """What each rank sends and receives, in order: the kind, the bytes and the peer."""
    ranks: list[list[tuple[str, ...]]] = []
    for line in schedule.to_goal().splitlines():
        if line.startswith("rank "):
            ranks.append([])
        elif found := re.search(r"(send|recv) (\d+)b (?:to|from) (-?\d+)", line):
            ranks[-1].append(found.groups())
    return ranks


@pytest.mark.parametrize("structure", [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)])
def test_a_program_continued_to_64_ranks_is_the_one_traced_on_64(structure: str, tmp_path: Path) -> None:
    runs = traced(tmp_path, structure)
    by_structure = runs[16].by_structure([runs[4], runs[8]], computation="traced")
    continued = by_structure.extrapolate(LARGE)
    assert messages(continued) == messages(runs[LARGE])
    assert idlewave.simulate(continued, Machine.preset("odin")).messages == sum(
        kind == "send" for rank in messages(runs[LARGE]) for kind, *_ in rank
    )


@pytest.fixture(scope="module")
def halo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("halo")
    traced(folder, "halo2d", (4, 8))
    return folder


def test_what_was_found_is_a_table_and_sentences(halo: Path) -> None:
    small, large = (Schedule.from_trace(halo / f"halo2d-{ranks}") for ranks in (4, 8))
    continued = large.by_structure([small], computation="traced").extrapolate(16)
    assert continued.structure is not None
    assert continued.structure.grid == (4, 4, 1)
    assert continued.structure.traced == ((2, 2, 1), (4, 2, 1))
    laws = continued.structure.laws()
    assert set(laws.quantity) == {"size"}
    faces = laws[laws.call == "send to (0, +1, 0)"]
    assert faces.continued.tolist() == [8 * 96 / 4], "EDGE points of 8 bytes, shared by the ranks along X"
    assert "ranks on a grid of 2 x 2, 4 x 2, now 4 x 4" in continued.structure.notes()[0]
    assert any(
        "bytes of the send to (0, +1, 0): 384 on 4, 192 on 8, here 192" in note for note in continued.structure.notes()
    )


def test_it_is_made_alike_in_another_process(halo: Path) -> None:
    small, large = (Schedule.from_trace(halo / f"halo2d-{ranks}") for ranks in (4, 8))
    continued = large.by_structure([small], computation="traced").extrapolate(32, dims=(8, 4))
    assert pickle.loads(pickle.dumps(continued)).to_goal() == continued.to_goal()
    other = large.by_structure([small], computation="traced").extrapolate(32, dims=(4, 8))
    assert continued.identity() != other.identity()
    assert [source.name for source in continued.provenance.sources] == [large.name, small.name]


def test_commands_continue_by_structure(halo: Path, tmp_path: Path) -> None:
    options = ["--extrapolate", "structure", "--smaller", str(halo / "halo2d-4"), "--computation", "traced"]
    source = [str(halo / "halo2d-8"), "-m", "odin"]
    shown = run("simulate", *source, "--ranks", "64", *options)
    assert shown.returncode == 0, shown.stderr
    assert "the structure of the runs with 4 and 8 ranks is continued" in shown.stderr
    studied = run("study", *source, "--ranks", "8,16", "--seeds", "0", "-o", str(tmp_path / "study.csv"), *options)
    assert studied.returncode == 0, studied.stderr
    assert len((tmp_path / "study.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--smaller", "trace"], "--smaller belongs to --extrapolate structure"),
        (["--computation", "traced"], "--computation belongs to --extrapolate structure"),
        (["--extrapolate", "structure", "--ranks", "12", "--dims", "5x2"], "expected dims whose product is 12"),
        (["--extrapolate", "copies", "--ranks", "12"], "expected a multiple of the 8 traced ranks"),
        (["--dims", "4x4"], "--dims belongs to a pattern"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(halo: Path, options: list[str], why: str) -> None:
    result = run("simulate", str(halo / "halo2d-8"), "-m", "odin", *options)
    assert result.returncode == 2, result.stderr
    assert why in result.stderr


def test_what_does_not_fit_is_named(halo: Path, tmp_path: Path) -> None:
    ring = traced(tmp_path, "ring", (4,))[4]
    large = Schedule.from_trace(halo / "halo2d-8")
    with pytest.raises(InputError, match=r"rank 0 of 4, call 1: a receive with \(.*\) is rank \d here, found"):
        large.by_structure([ring]).extrapolate(16)
    with pytest.raises(UsageError, match="only a trace can be extrapolated"):
        large.by_structure([Schedule.pattern("barrier", ranks=4)])

"""What needs more memory than there may be is refused beforehand, what fits is not, and where memory runs out all the
same, an error says so."""

from __future__ import annotations

import pickle
import resource
import subprocess
import sys
from pathlib import Path

import idlewave
import numpy as np
import pytest
from idlewave import memory_limits, memory_needs
from idlewave.errors import MemoryLimit
from idlewave.memory_limits import Limit, check_memory, limits, memory_for, tightest
from long_cases import most_long
from trace_files import write_trace

GIB = 1 << 30
COMMAND = ["-c", "import sys; sys.argv[0] = 'idlewave'; from idlewave.cli import main; main()"]


def run(*arguments: str, address_space: int | None = None) -> subprocess.CompletedProcess[str]:
    """A command, where it may have so many bytes of addresses."""

    def limit() -> None:
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    return subprocess.run(
        [sys.executable, *COMMAND, *arguments], capture_output=True, text=True, preexec_fn=limit, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        (["simulate", "dissemination", "--ranks", "4000000000", "-m", "odin"], "simulating 4,000,000,000 ranks"),
        (["explain", "dissemination", "--ranks", "4000000000", "-m", "odin"], "4,000,000,000 ranks"),
        (["pdes", "phold", "--lps", "4000000000"], "running phold of 4,000,000,000 LPs"),
        (["pdes", "epidemic", "--persons", "4000000000"], "running epidemic of 4,000,000,000 persons"),
        (["pdes", "flood", "--hosts", "4000000000"], "running flood of 64 routers and 4,000,000,000 hosts"),
    ],
)
def test_a_command_that_cannot_fit_is_refused_in_one_line(arguments: list[str], needs: str) -> None:
    refused = run(*arguments, address_space=8 * GIB)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.count("\n") == 1
    assert f"{needs} needs at least about " in refused.stderr
    assert "the limit is 8.59 GB (ulimit -v)" in refused.stderr


@pytest.mark.parametrize("seeds", most_long([10**9, 9 * 10**15], 1))
def test_a_study_of_more_simulations_than_fit_is_refused_before_the_first(
    seeds: int, material: dict[str, str], tmp_path: Path
) -> None:
    table = tmp_path / "refused.parquet"
    asked = ["study", material["goal"], "-m", material["machine"], "--seeds", str(seeds), "-o", str(table)]
    refused = run(*asked, address_space=8 * GIB)
    assert (refused.returncode, "Traceback" in refused.stderr, table.exists()) == (1, False, False)
    assert f"a study of {seeds:,} simulations needs at least about " in refused.stderr
    assert "the limit is 8.59 GB (ulimit -v)" in refused.stderr


def test_a_machine_without_noise_takes_any_number_of_seeds() -> None:
    """Nothing is simulated with them."""
    quiet = idlewave.study(idlewave.Schedule.pattern("compute", ranks=2), "odin", seeds=9 * 10**15)
    assert len(quiet) == 1


def test_memory_that_runs_out_is_told_with_what_was_needed() -> None:
    """More than the lower bound fits into, and less than what it takes in the end."""
    ended = run("simulate", "halo1d", "--ranks", "1000000", "-m", "odin", address_space=400_000_000)
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    assert "memory ran out while simulating 1,000,000 ranks, which needs at least about 88 MB" in ended.stderr
    assert "the limit is 400 MB (ulimit -v)" in ended.stderr


def test_a_file_that_does_not_fit_is_told_by_name(tmp_path: Path) -> None:
    file = tmp_path / "long.goal"
    file.write_text("num_ranks 1\nrank 0 {\n" + "".join(f"a{i}: calc 1\n" for i in range(2_000_000)) + "}\n")
    ended = run("simulate", str(file), "-m", "odin", address_space=200_000_000)
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    assert f"memory ran out while reading {file}; the limit is 200 MB (ulimit -v)" in ended.stderr


PEAK = """
import sys, idlewave
from idlewave import _core, jobs, pdes
from idlewave.sensitivity import sensitivities
n = int(sys.argv[1])
idle = idlewave.Schedule.compose([jobs.Job(2, [jobs.Operation("barrier")])], ranks=n)
run = {
    "simulation": lambda: idlewave.simulate(idle, "odin"),
    "check": lambda: idlewave.simulate(idle, "odin", scheduler="check"),
    "loggopsim": lambda: idlewave.simulate(idle, "odin", noise=None, dialect="loggopsim"),
    "compute": lambda: idlewave.simulate(idlewave.Schedule.pattern("compute", ranks=n), "odin"),
    "derivatives": lambda: sensitivities(idle, "odin"),
    "recorded": lambda: idlewave.simulate(idle, "odin", record=idlewave.Recording(ranks=(0, 0))),
    "phold": lambda: pdes.phold(lps=n, start_events=0, end=1e-6),
    "started": lambda: pdes.phold(lps=n, start_events=16, lookahead=0.9, mean=0.1, end=1),
    "epidemic": lambda: pdes.epidemic(persons=n, first_infectious=0, days=1),
    "flood": lambda: pdes.flood(hosts=n, bots=0, end=1e-9),
    "routers": lambda: pdes.flood(routers=n, hosts=10, bots=1, end=1e-9),
}[sys.argv[2]]
before = _core.peak_memory()
run()
print(_core.peak_memory() - before)
"""
N = 200_000
PHOLD = {"lps": N, "start_events": 0, "lookahead": 100_000, "mean": 900_000, "end": 1}
STARTED = {"lps": N, "start_events": 16, "lookahead": 900_000, "mean": 100_000, "end": 1_000_000}


@pytest.mark.parametrize(
    ("what", "bound"),
    [
        ("simulation", memory_needs.simulation(N)),
        ("check", memory_needs.simulation(N)),
        ("loggopsim", memory_needs.simulation(N)),
        ("compute", memory_needs.simulation(N)),
        ("derivatives", memory_needs.DIFFERENTIATED * N),
        ("recorded", memory_needs.RECORDED * N),
        ("phold", memory_needs.model("phold", PHOLD)),
        ("started", memory_needs.model("phold", STARTED)),
        ("epidemic", memory_needs.model("epidemic", {"persons": N})),
        ("flood", memory_needs.model("flood", {"routers": 64, "hosts": N})),
        ("routers", memory_needs.model("flood", {"routers": N, "hosts": 10})),
    ],
)
def test_no_bound_is_above_what_the_least_of_such_a_run_takes(what: str, bound: int) -> None:
    answer = subprocess.run([sys.executable, "-c", PEAK, str(N), what], capture_output=True, text=True, check=True)
    assert bound <= int(answer.stdout)


def test_simulations_of_a_study_have_to_fit_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = 1_000_000
    schedule = idlewave.Schedule.pattern("compute", ranks=ranks)
    quiet = idlewave.Machine.named("odin")
    noisy = quiet.with_noise(idlewave.Noise(np.array([0]), np.array([1000]), 10**9))
    monkeypatch.setattr(memory_limits, "tightest", lambda: Limit(2 * memory_needs.simulation(ranks), "a test"))
    with pytest.raises(MemoryLimit, match="simulating 1,000,000 ranks, 3 simulations at a time, needs at least about"):
        idlewave.study(schedule, noisy, workers=3)
    assert len(idlewave.study(schedule, quiet, workers=3)) == 1
    assert len(idlewave.study(schedule, noisy, workers=3, seeds=range(2))) == 3


def test_the_error_carries_its_numbers_to_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "tightest", lambda: Limit(5 * GIB, "a test", used=GIB))
    with pytest.raises(MemoryLimit) as refused:
        check_memory("this", 5 * GIB)
    error = pickle.loads(pickle.dumps(refused.value))
    assert (error.needed, error.limit, error.which, error.exit_status) == (5 * GIB, 5 * GIB, "a test", 1)
    said = "this needs at least about 5.37 GB; the limit is 5.37 GB (a test), of which 1.07 GB are taken"
    assert str(error) == said


def test_what_just_fits_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "tightest", lambda: Limit(5 * GIB, "a test", used=GIB))
    with memory_for("this", 4 * GIB):
        pass


def machine_of(root: Path, files: dict[str, str]) -> Path:
    """What a system says, below a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal: 8388608 kB\nMemFree: 1 kB\nSwapTotal: 2097152 kB\n"}
SECOND = {
    "proc/self/cgroup": "0::/job/step\n",
    "proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
}
FIRST = {
    "proc/self/cgroup": "4:memory:/job\n",
    "proc/self/mounts": "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n",
}


@pytest.mark.parametrize(
    ("files", "most", "name"),
    [
        ({}, 10 * GIB, "the machine's memory and swap space"),
        (SECOND | {"sys/fs/cgroup/job/step/memory.max": "max\n"}, 10 * GIB, "the machine's memory and swap space"),
        (
            SECOND | {"sys/fs/cgroup/job/step/memory.max": "max\n", "sys/fs/cgroup/job/memory.max": f"{GIB}\n"},
            3 * GIB,
            "the control group's memory",
        ),
        (
            SECOND
            | {
                "sys/fs/cgroup/job/step/memory.max": f"{GIB}\n",
                "sys/fs/cgroup/job/step/memory.swap.max": "0\n",
            },
            GIB,
            "the control group's memory",
        ),
        (
            FIRST
            | {
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{2 * GIB}\n",
                "sys/fs/cgroup/memory/job/memory.memsw.limit_in_bytes": f"{3 * GIB}\n",
            },
            3 * GIB,
            "the control group's memory",
        ),
        (
            FIRST | {"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "9223372036854771712\n"},
            10 * GIB,
            "the machine's memory and swap space",
        ),
    ],
)
def test_the_tightest_limit_is_that_of_the_machine_or_of_a_control_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], most: int, name: str
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    limit = tightest(machine_of(tmp_path, MEMINFO | files))
    assert (limit.bytes, limit.name) == (most, name)


def test_a_limit_of_the_process_leaves_what_is_not_in_memory_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (GIB, GIB))
    own = {limit.name: limit for limit in limits() if limit.name.startswith("ulimit")}
    assert set(own) == {"ulimit -v", "ulimit -d"}
    assert all(0 < limit.used < GIB and limit.left == GIB - limit.used for limit in own.values())


def test_a_traced_program_has_at_least_the_ops_that_are_counted_before_it_runs(tmp_path: Path) -> None:
    schedule = idlewave.Schedule.from_trace(write_trace(tmp_path / "trace"))
    for ranks in (schedule.ranks, 4 * schedule.ranks):
        larger = schedule.extrapolate(ranks)
        ran = len(idlewave.simulate(larger, "odin", record=True).ops_to_arrow())
        assert ran >= larger.least_ops > 0


def test_what_ops_take_is_counted_before_they_are_recorded_or_written(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"a{i}: calc 1\n" for i in range(400_000))
    schedule = idlewave.Schedule.from_goal(f"num_ranks 1\nrank 0 {{\n{lines}}}\n")
    monkeypatch.setattr(memory_limits, "UNCHECKED", 0)
    monkeypatch.setattr(memory_limits, "tightest", lambda: Limit(8_000_000, "a test"))
    with pytest.raises(MemoryLimit, match=r"recording a simulation of 1 ranks needs at least about 60 MB"):
        idlewave.simulate(schedule, "odin", record=True)
    with pytest.raises(MemoryLimit, match=r"writing the GOAL text of 1 ranks needs at least about 8.8 MB"):
        schedule.to_goal()


@pytest.mark.parametrize("space", most_long([350_000_000, 200_000_000, 450_000_000], 1))
def test_libraries_that_do_not_fit_are_told_before_they_are_loaded(space: int, tmp_path: Path) -> None:
    """OpenBLAS would ask for its buffers for ever, and Arrow would abort the process."""
    study = tmp_path / "study.parquet"
    (tmp_path / "x.goal").write_text("num_ranks 1\nrank 0 {\na: calc 5\n}\n")
    made = run("study", str(tmp_path / "x.goal"), "-m", "odin", "-o", str(study))
    assert made.returncode == 0, made.stderr
    ended = run("report", "--study", str(study), "-o", str(tmp_path / "report"), address_space=space)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1), ended.stderr
    assert "error: loading " in ended.stderr
    assert "(ulimit -v)" in ended.stderr

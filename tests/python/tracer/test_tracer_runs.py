"""Traced programs behave as untraced ones, and whatever goes wrong is said, with what was recorded kept."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import idlewave
import pytest
from command_runs import run
from idlewave import mpi, traced_run
from idlewave.errors import InputError, MpiError, OutputError, ProgramError, UsageError
from long_cases import most_long
from places import EXAMPLES, PROGRAMS
from trace_reader import read_trace
from tracer_support import (
    command_of,
    compiled,
    debian_open_mpi,
    decoded,
    flang,
    flang_open_mpi,
    mpich,
    open_mpi,
    program,
    trace_of,
    untraced_output,
    with_mpif_h,
)

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

SMALL = {"halo2d": (64, 50, 10), "cg": (24,)}


@pytest.mark.parametrize("name", ["halo2d", "cg"])
def test_a_traced_example_prints_what_it_prints_untraced(
    tmp_path: Path, capfd: pytest.CaptureFixture, name: str
) -> None:
    use = open_mpi()
    example = compiled(use.mpicc, EXAMPLES / f"{name}.c")
    expected = untraced_output(use, 4, example, *SMALL[name])
    capfd.readouterr()
    ranks = trace_of(tmp_path / "trace", use, 4, example, *SMALL[name])
    assert capfd.readouterr().out == expected
    assert len(ranks) == 4


def test_the_halo_exchange_is_recorded_message_by_message(tmp_path: Path) -> None:
    use = open_mpi()
    points, iterations, interval = SMALL["halo2d"]
    example = compiled(use.mpicc, EXAMPLES / "halo2d.c")
    for rank in trace_of(tmp_path / "trace", use, 4, example, points, iterations, interval):
        for name in ("Isend", "Irecv"):
            calls = [record for record in rank.named(name) if record.pair(1)[0] != -2]
            # On a grid of 2 x 2 each rank has two neighbours.
            assert len(calls) == 2 * iterations
            assert {record.words[2] for record in calls} == {8 * points}
        assert len(rank.named("Waitall")) == iterations
        assert len(rank.named("Allreduce")) == iterations // interval + 1


@pytest.mark.parametrize("name", ["halo2d", "cg"])
def test_examples_explain_their_use(name: str) -> None:
    use = open_mpi()
    example = compiled(use.mpicc, EXAMPLES / f"{name}.c")
    command = command_of(use, 1, example, "many")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=use.environment())
    assert done.returncode == 2
    assert f"usage: {name}" in done.stderr


def test_the_run_is_described(tmp_path: Path) -> None:
    use = open_mpi()
    command = command_of(use, 2, program(use, "many"), 3)
    run = traced_run.trace(command, tmp_path / "trace")
    said = json.loads((tmp_path / "trace" / "trace.json").read_text())
    assert said["format"] == 1
    assert said["command"] == command == list(run.command)
    assert said["mpi"]["vendor"] == run.mpi.vendor == "Open MPI"
    assert (said["ranks"], said["exit_status"]) == (run.ranks, run.exit_status) == (2, 0)
    assert said["wall_seconds"] > 0


@pytest.mark.parametrize("way", ["kill", "segv", "exit"])
def test_a_rank_that_dies_keeps_its_records_and_is_named(tmp_path: Path, way: str) -> None:
    use = open_mpi()
    with pytest.raises(ProgramError) as error:
        traced_run.trace(command_of(use, 4, program(use, "dies"), way, 2), tmp_path / "trace")
    ranks = read_trace(tmp_path / "trace")
    dead = ranks[2]
    assert [record[0] for record in decoded(dead)] == ["Init"] + ["Sendrecv"] * 10
    assert dead.header["state"] == 0
    assert dead.header["finalize_begin"] == 0
    assert dead.tail > 0
    message = str(error.value)
    # Launchers kill at once what does not end at once: such a rank cannot be told from the one that died.
    named, _, _ = message.partition(" never reached MPI_Finalize")
    assert re.fullmatch(r"Rank [0-9, -]+", named)
    assert "11 calls of rank 2" in message
    assert str(tmp_path / "trace") in message
    assert json.loads((tmp_path / "trace" / "trace.json").read_text())["exit_status"] != 0


@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_a_rank_that_aborts_is_named(tmp_path: Path, find) -> None:
    use = find()
    with pytest.raises(ProgramError, match=r"^Rank 1 called MPI_Abort .*exit status 7"):
        traced_run.trace(command_of(use, 2, program(use, "dies"), "abort", 1), tmp_path / "trace")
    aborted = read_trace(tmp_path / "trace")[1]
    assert aborted.header["state"] == 2
    assert decoded(aborted)[-1] == ("Abort", 7)


def test_a_program_that_fails_after_finalize_is_an_error(tmp_path: Path) -> None:
    use = open_mpi()
    with pytest.raises(ProgramError, match="exit status 2, though every rank reached MPI_Finalize"):
        traced_run.trace(command_of(use, 2, program(use, "dies"), "late", 1), tmp_path / "trace")
    assert [rank.header["state"] for rank in read_trace(tmp_path / "trace")] == [1, 1]


def test_an_interrupted_program_keeps_what_was_recorded(tmp_path: Path) -> None:
    use = open_mpi()
    command = command_of(use, 2, program(use, "dies"), "hang", 0)
    # Interrupts are ignored by what a shell without job control has started in the background, and that is inherited.
    script = (
        "import signal; from pathlib import Path; from idlewave import traced_run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"traced_run.trace({command!r}, Path({str(tmp_path / 'trace')!r}))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(2):
        assert process.stdout.readline() == "hanging\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "interrupted by SIGINT; what 2 ranks had recorded is kept in" in said
    for rank in read_trace(tmp_path / "trace"):
        assert [record.name for record in rank.records] == ["Init"] + ["Sendrecv"] * 10 + ["Polls"]
    assert (tmp_path / "trace" / "trace.json").exists()


def test_a_program_of_another_mpi_is_refused_with_both_named(tmp_path: Path) -> None:
    ours, other = open_mpi(), mpich()
    with pytest.raises(MpiError, match=r"linked with MPICH .* launcher of Open MPI"):
        traced_run.trace(command_of(ours, 2, program(other, "many")), tmp_path / "trace")
    with pytest.raises(MpiError, match=r"linked with Open MPI .* launcher of MPICH"):
        traced_run.trace(command_of(other, 2, program(ours, "many")), tmp_path / "trace")
    assert not (tmp_path / "trace").exists()


def test_a_program_of_another_mpi_is_found_out_behind_a_shell(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    for ours, other in ((open_mpi(), mpich()), (mpich(), open_mpi())):
        hidden = [str(ours.mpiexec), "-n", "2", "sh", "-c", str(program(other, "many"))]
        with pytest.raises(MpiError, match="MPI is not that of"):
            traced_run.trace(hidden, tmp_path / ours.vendor)
        assert f"this program's MPI is {other.vendor}" in capfd.readouterr().err


def test_processes_that_do_not_know_of_each_other_are_not_taken_for_one_program(tmp_path: Path) -> None:
    use = open_mpi()
    kept = " ".join(f'{name}="${name}"' for name in ("HOME", "PATH", "LD_PRELOAD", "IDLEWAVE_TRACE_DIR"))
    alone = f"env -i {kept} OMPI_ALLOW_RUN_AS_ROOT=1 {program(use, 'many')}"
    with pytest.raises(MpiError, match="rank 0 of 1"):
        traced_run.trace([str(use.mpiexec), "-n", "2", "sh", "-c", alone], tmp_path / "trace")


def test_what_is_no_mpi_program_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="is no MPI program"):
        traced_run.trace(command_of(open_mpi(), 2, Path("/bin/true")), tmp_path / "trace")


def test_a_launcher_that_fails_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="before any rank had passed MPI_Init"):
        traced_run.trace(command_of(open_mpi(), 2, Path("/bin/false")), tmp_path / "trace")


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    use = open_mpi()
    with pytest.raises(InputError, match=r"'\./nothing' was not found"):
        traced_run.trace([str(use.mpiexec), "-n", "2", "./nothing"], tmp_path / "trace")
    plain = tmp_path / "plain"
    plain.write_text("no program")
    with pytest.raises(InputError, match="cannot be executed"):
        traced_run.trace([str(use.mpiexec), "--map-by", ":oversubscribe", "-n", "2", str(plain)], tmp_path / "trace")
    with pytest.raises(UsageError, match="no program is named"):
        traced_run.trace([str(use.mpiexec), "-n", "2"], tmp_path / "trace")


def test_a_command_without_a_launcher_is_refused(tmp_path: Path) -> None:
    for command in ([], ["./program"], ["time", "mpiexec", "./program"]):
        with pytest.raises(UsageError, match="expected a command that starts with mpiexec"):
            traced_run.trace(command, tmp_path / "trace")


def test_a_missing_launcher_is_named(tmp_path: Path) -> None:
    with pytest.raises(MpiError, match="/nowhere/mpiexec"):
        traced_run.trace(["/nowhere/mpiexec", "-n", "2", "/bin/true"], tmp_path / "trace")


def test_the_found_mpiexec_is_used_where_none_is_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use = open_mpi()
    tools = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not (Path(p) / "mpiexec").exists())
    command = ["mpiexec", "-n", "1", str(program(use, "many"))]
    mpi.build(use, "tracer")
    monkeypatch.setenv("PATH", tools)
    assert traced_run.trace(command, tmp_path / "trace").mpi.mpiexec == mpi.find().mpiexec


def test_calls_of_a_process_that_a_rank_forks_are_not_recorded(tmp_path: Path) -> None:
    use = mpich()  # Open MPI warns of forks
    for rank in trace_of(tmp_path / "trace", use, 2, program(use, "forks")):
        assert [record.name for record in rank.records] == ["Init", *["Barrier"] * 20, "Finalize"]


def test_a_full_disk_loses_records_but_not_the_program(tmp_path: Path) -> None:
    use = open_mpi()
    limited = f"ulimit -f 12000; exec {program(use, 'many')} 300000"
    with pytest.raises(OutputError, match=r"File too large: rank 0 could not extend .* \d+ records were lost"):
        traced_run.trace([str(use.mpiexec), "-n", "1", "sh", "-c", limited], tmp_path / "trace")
    (rank,) = read_trace(tmp_path / "trace")
    assert rank.header["state"] == 1
    sent = len(rank.named("Send"))
    # Beside the sends, the barrier and the end were lost.
    assert rank.header["lost"] == 300_000 - sent + 2
    assert sent > 0


def test_the_tracer_may_be_built_alone_and_preloaded_by_hand(tmp_path: Path) -> None:
    use = open_mpi()
    built = run("trace", "--json", "build", str(use.mpiexec))
    assert built.returncode == 0, built.stderr
    tracer = json.loads(built.stdout)["tracer"]
    (tmp_path / "trace").mkdir()
    given = ["-x", f"LD_PRELOAD={tracer}", "-x", f"IDLEWAVE_TRACE_DIR={tmp_path / 'trace'}"]
    command = [str(use.mpiexec), "-n", "2", *given, str(program(use, "many")), "100"]
    subprocess.run(command, check=True, env=use.environment(), timeout=120)
    assert [len(rank.named("Send")) for rank in read_trace(tmp_path / "trace")] == [100, 100]
    assert idlewave.simulate(idlewave.Schedule.from_trace(tmp_path / "trace"), idlewave.Machine.preset("odin"))
    plain = run("trace", "build")
    assert Path(plain.stdout.strip()).name == "libidlewave-trace.so"
    assert "start the ranks with LD_PRELOAD=" in " ".join(plain.stderr.split())


def test_the_options_of_build_may_stand_before_it_and_behind_it() -> None:
    launcher = str(open_mpi().mpiexec)
    for words in (
        ("--json", "build", launcher),
        ("build", "--json", launcher),
        ("build", launcher, "--json"),
        ("build", "--abi=own", "--json", launcher),
        ("--json", "build", "--abi", "own"),
    ):
        built = run("trace", *words)
        assert built.returncode == 0, built.stderr
        assert Path(json.loads(built.stdout)["tracer"]).name == "libidlewave-trace.so"
    assert "--abi [own|standard]" in run("trace", "build", "--help").stdout
    for option, words in (("--output", ("-o", "trace")), ("--overwrite", ("--overwrite",))):
        refused = run("trace", *words, "build", launcher)
        assert refused.returncode == 2
        assert f"{option} has no meaning beside it" in " ".join(refused.stderr.split())


def test_build_is_no_program_of_this_folder_and_has_no_other_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands that are traced begin with a launcher: a program called build is not among them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").write_text("#!/bin/sh\n")
    (tmp_path / "build").chmod(0o755)
    assert run("trace", "build", str(open_mpi().mpiexec)).returncode == 0
    for words, said in ((("-n", "4"), "No such option"), (("one", "two"), "unexpected extra argument (two)")):
        refused = run("trace", "build", *words)
        assert refused.returncode == 2
        assert said in " ".join(refused.stderr.split())


def test_srun_is_told_to_export_the_tracer_to_its_ranks(tmp_path: Path) -> None:
    use = open_mpi()
    srun = tmp_path / "srun"
    # Stands in for Slurm's: takes --export=ALL,NAME=VALUE,… as its first argument and starts the ranks so.
    srun.write_text(
        '#!/bin/sh\ncase "$1" in --export=ALL,*) ;; *) exit 9 ;; esac\n'
        'list=${1#--export=ALL,}\nshift\nIFS=,\nfor pair in $list; do set -- -x "$pair" "$@"; done\n'
        f'exec {use.mpiexec} "$@"\n'
    )
    srun.chmod(0o755)
    run = traced_run.trace([str(srun), "-n", "2", str(program(use, "many")), "3"], tmp_path / "trace")
    assert run.ranks == 2
    assert all(len(rank.named("Send")) == 3 for rank in read_trace(tmp_path / "trace"))


def test_a_trace_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    use = open_mpi()
    command = command_of(use, 1, program(use, "many"), 5)
    traced_run.trace(command, tmp_path / "trace")
    with pytest.raises(InputError, match="exists and is not empty"):
        traced_run.trace(command, tmp_path / "trace")
    traced_run.trace(command, tmp_path / "trace", overwrite=True)
    (tmp_path / "trace" / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="holds more than a trace"):
        traced_run.trace(command, tmp_path / "trace", overwrite=True)
    assert (tmp_path / "trace" / "thesis.tex").read_text() == "precious"


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a directory"):
        traced_run.trace(command_of(open_mpi(), 1, Path("/bin/true")), tmp_path / "file" / "trace")


def test_a_rank_without_a_file_goes_on_untraced_and_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    use = open_mpi()
    # The shell makes rank 1's file before the rank can.
    taken = '"$IDLEWAVE_TRACE_DIR/rank-0000001.iwtrace"'
    blocked = f'[ "$OMPI_COMM_WORLD_RANK" = 1 ] && : > {taken}; {program(use, "many")}'
    with pytest.raises(ProgramError, match="no file was written by rank 1 of 2"):
        traced_run.trace([str(use.mpiexec), "-n", "2", "sh", "-c", blocked], tmp_path / "trace")
    assert "rank 1 of 2:" in capfd.readouterr().err


# Only the compiler that made an MPI's modules reads them, so flang needs an MPI of its own; mpif.h is for all.
@pytest.mark.parametrize(
    "source", most_long(["f08", "mpi", "mpif.h", "mpif.h of flang", "f08 of flang", "mpi of flang"], 1)
)
def test_fortran_programs_are_recorded_as_c_programs_are(tmp_path: Path, source: str) -> None:
    interface, _, compiler = source.partition(" of ")
    with_flang = compiler == "flang"
    if interface == "mpif.h":
        use = debian_open_mpi()
        written = with_mpif_h(PROGRAMS / "calls_mpi.f90", tmp_path)
        executable = compiled("mpif90.openmpi", written, fortran=flang() if with_flang else None)
    else:
        use = flang_open_mpi() if with_flang else debian_open_mpi()
        wrapper = use.mpiexec.parent / "mpif90" if with_flang else "mpif90.openmpi"
        executable = compiled(wrapper, PROGRAMS / f"calls_{interface}.f90")
    ranks = trace_of(tmp_path / "trace", use, 2, executable)
    ids = {record.words[0] for rank in ranks for record in rank.named("Allreduce")}
    assert len(ids) == 2
    for rank in ranks:
        me = rank.header["rank"]
        partner = 1 - me
        split = rank.named("Allreduce")[0].words[0]
        duplicate = rank.named("CommDef")[1].words[0]
        records = [r for r in decoded(rank) if r[0] not in ("Polls", "CommDef")]
        waits = [r for r in records if r[0] in ("Waitany", "Waitsome", "Waitall")]
        assert [completion for wait in waits for completion in wait[1:]] == [
            *[(f"Irecv {2 + i}", (partner, 2 + i), 4 * i) for i in range(1, 4)],
            ("Isend 9",),
        ]
        assert [r for r in records if r not in waits] == [
            ("Init",),
            ("Irecv", 1, (-1, 1), 400, "Irecv 1"),
            ("Send", 1, (partner, 1), 20),
            ("Wait", ("Irecv 1", (partner, 1), 20)),
            ("Sendrecv", 1, (partner, 2), 24, (-1, -1), 400, (partner, 2), 24),
            *[("Irecv", 1, (-1, 2 + i), 400, f"Irecv {2 + i}") for i in range(1, 4)],
            *[("Send", 1, (partner, 2 + i), 4 * i) for i in range(1, 4)],
            ("Isend", 1, (partner, 9), 28, "Isend 9"),
            ("Probe", 1, (partner, 9), (partner, 9), 28),
            ("Recv", 1, (-1, -1), 400, (partner, 9), 28),
            ("Allreduce", split, (-3, 0), 32, 32),
            ("Allgather", split, (-3, 0), 8, 8),
            ("CommFree", split),
            ("Alltoallw", 1, (-3, 0), 8, 8, 4, 4, 4, 4),
            ("Wait", ("?",)),
            ("Barrier", duplicate, (-3, 0), 0, 0),
            ("Finalize",),
        ]

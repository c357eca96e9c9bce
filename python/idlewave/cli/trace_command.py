"""``idlewave trace``: run an MPI program, and record the MPI calls of its ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .. import mpi
from ..formatting import plural, seconds_text
from ..timed_calls import timed_calls_text
from ..trace import Trace
from ..trace_hosts import cores_text, foreign_cores_text
from ..traced_run import trace as run_traced
from .option_types import as_json, print_json, refuse_given, trace_folder
from .terminal import say, say_note

ABIS = ("own", "standard")
"""The binary interfaces that programs are linked with: that of the MPI, or the one of the MPI standard (MPI-5)."""


@click.command("build", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--abi",
    type=click.Choice(ABIS),
    default="own",
    show_default=True,
    help="The interface that the programs are linked with: the MPI's own, or MPI's standard one (by mpicc_abi).",
)
@as_json
@click.argument("mpiexec", required=False)
def build_tracer(mpiexec: str | None, abi: str, as_json: bool) -> None:
    """Compile the tracer for the MPI of the launcher MPIEXEC, unless it is in the cache, and print its path."""
    found = mpi.find(mpiexec)
    standard = abi == "standard"
    compiled_for = mpi.for_standard_abi(found, "--abi standard was given") if standard else found
    library = mpi.build(compiled_for, "tracer")
    name = f"{found.vendor} {found.version}"
    if as_json:
        print_json({"tracer": str(library), "mpi": name, "mpiexec": str(found.mpiexec), "abi": abi})
        return
    say(str(library))
    linked = "programs that are linked with MPI's standard ABI, on " if standard else ""
    say_note(
        f"for {linked}{name}: start the ranks with LD_PRELOAD={library} and IDLEWAVE_TRACE_DIR=FOLDER, an empty folder"
    )


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@trace_folder
@click.option("--overwrite", is_flag=True, help="Replace an earlier trace.")
@as_json
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def trace(folder: Path, overwrite: bool, as_json: bool, command: tuple[str, ...]) -> None:
    """Run COMMAND, such as `-- mpiexec -n 4 ./program`, and record the MPI calls of its ranks.

    The program is not changed: the tracer is preloaded into its ranks.

    `idlewave trace build [OPTIONS] [MPIEXEC]` only compiles the tracer, and prints its path: to preload it (LD_PRELOAD)
    where ranks are started in another way, with IDLEWAVE_TRACE_DIR naming an empty folder.
    """
    if command[0] == "build":  # no launcher, with which every command begins that is traced
        refuse_given(click.get_current_context(), ("folder", "overwrite"), "trace build only compiles the tracer")
        words = [*(["--json"] if as_json else []), *command[1:]]
        build_tracer.main(words, prog_name="idlewave trace build", standalone_mode=False)
        return
    run = run_traced(list(command), folder, overwrite=overwrite, output_to=2 if as_json else None)
    found = Trace.load(run.directory)
    if as_json:
        print_json({"written": str(run.directory), **_described(found), "exit_status": run.exit_status})
        return
    say(
        f"{found.ranks} ranks, {_calls(found)} calls, {found.measured_s:.3f} s between MPI_Init and MPI_Finalize; "
        f"written: {run.directory}"
    )
    _say_cores(found)
    if timed := timed_calls_text(found.timed_one_sided_calls, found.file_calls):
        say_note(
            f"{timed}: in a schedule they are computation for as long as they took, and their data are not simulated"
        )
    if (residual := found.clocks["residual_ns"].max()) > 0:
        say(f"clocks: put on rank 0's to within {residual:.0f} ns, offset and drift taken at both ends")


def _calls(trace: Trace) -> int:
    return int(trace.processes["calls"].sum())


def _described(trace: Trace) -> dict[str, Any]:
    """What `--json` prints of a trace."""
    cores, hosts, residual = trace.core_shares(), trace.hosts(), trace.clocks["residual_ns"].max()
    shares = cores["share"].dropna()
    return {
        "ranks": trace.ranks,
        "calls": _calls(trace),
        "seconds": trace.measured_s,
        "clock_residual_ns": float(residual) if residual > 0 else None,
        "core_share": [float(shares.min()), float(shares.max())] if len(shares) else None,
        "involuntary_switches": int(cores["involuntary_switches"].sum()),
        "ranks_that_shared_cores": int(cores["shared"].sum()),
        "hosts": hosts.astype(object).where(hosts.notna(), None).to_dict("records"),
        "core_wait_s": float(cores["core_wait_s"].sum()) if cores["core_wait_s"].notna().all() else None,
        "one_sided_calls": trace.one_sided_calls,
        "file_calls": trace.file_calls,
    }


def _say_cores(trace: Trace) -> None:
    """Print what the system gave the ranks, and what other processes had."""
    cores, hosts = trace.core_shares(), trace.hosts()
    shares = cores["share"].dropna()
    if len(shares):
        share = f"a rank had {shares.min():.0%} to {shares.max():.0%} of one"
        said = ", ".join(filter(None, (cores_text(hosts), share)))
        say(f"cores: {said}; {int(cores['involuntary_switches'].sum()):,} involuntary context switches in all")
    if busy := foreign_cores_text(hosts):
        say(f"load: {busy}")
    known, waited = bool(cores["core_wait_s"].notna().all()), float(cores["core_wait_s"].sum())
    if known and waited > 0:
        say(f"computations: without {seconds_text(waited)} of all ranks' time, in which they waited for a core")
    elif not known and (shared := int(cores["shared"].sum())):
        say_note(
            f"{plural(shared, 'rank')} shared cores: the computations of this trace hold waits for a core, which are "
            "not the program's"
        )

"""The command line of ``idlewave``: its commands in the order of the story."""

from __future__ import annotations

import io
import sys

import click

from .. import __version__
from ..errors import IdlewaveError
from ..quoting import printable
from .late_commands import LateCommands

INTERRUPTED = 130

COMMANDS = {
    "measure": ("measure_commands", "Measure this machine: its noise and its network."),
    "noise": ("noise_commands", "Show recordings of noise, make signatures of them, compare, rank nodes."),
    "trace": ("trace_command", "Run an MPI program, and record what its ranks call."),
    "schedule": ("schedule_command", "Write a trace or a pattern as a schedule."),
    "convert": ("convert_command", "Write a schedule's file in another format."),
    "simulate": ("simulate_command", "Simulate a schedule, trace or pattern on a machine."),
    "explain": ("explain_command", "Say what a simulated time is made of, and what it depends on."),
    "timeline": ("timeline_command", "Simulate, and write when each op ran, to look at."),
    "study": ("study_command", "Simulate at many numbers of ranks and seeds of the noise."),
    "report": ("report_command", "Write what was found as one HTML file."),
    "about": ("about_command", "Say what a file or folder of Idlewave was made from."),
    "pdes": ("pdes_commands", "Run a model on the kernel: a parallel discrete-event simulation."),
    "demo": ("demo_command", "Measure, trace, simulate at scale, and report."),
    "machines": ("listing_commands", "List the machines that ship with Idlewave."),
    "algorithms": ("listing_commands", "List the algorithms of collective operations."),
    "patterns": ("listing_commands", "List the patterns that can be simulated."),
    "doctor": ("doctor_command", "Say what this machine can do for Idlewave, and how to mend the rest."),
}


@click.group(
    cls=LateCommands,
    later=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "-V", "--version", prog_name="idlewave")
@click.option("-v", "--verbose", count=True, help="Say what is read, written, started and compiled; -vv: more.")
def cli(verbose: int) -> None:
    """Measure a machine's noise and network, trace an MPI program, and simulate it, under that noise, at any scale."""
    if verbose:
        from .verbosity import say_what_is_done

        say_what_is_done(more=verbose > 1)


def main() -> None:
    """Run the command line. Exit status: 0; 2 wrong use; 3 deadlock; 130 interrupted; 1 any other error."""
    try:
        cli(prog_name="idlewave", standalone_mode=False)
    except click.ClickException as error:
        words = io.StringIO()
        error.show(words)
        click.echo(printable(words.getvalue()), err=True, nl=False)
        sys.exit(error.exit_code)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted", "yellow")
        sys.exit(INTERRUPTED)
    except IdlewaveError as error:
        _fail(str(error))
        sys.exit(error.exit_status)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.filename is None:
            raise
        _fail(f"{error.filename}: {error.strerror or error}")
        sys.exit(1)


def _fail(text: str) -> None:
    _say(f"error: {text}", "bold red")


def _say(text: str, style: str) -> None:
    from .terminal import errors

    errors.print(text, style=style)

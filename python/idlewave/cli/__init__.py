"""The command line: ``idlewave measure | trace | schedule | convert | simulate | study | report | demo``."""

from __future__ import annotations

import sys

import click

from .. import __version__
from ..errors import IdlewaveError
from .convert_command import convert
from .demo_command import demo
from .listing_commands import algorithms, machines
from .measure_commands import measure
from .report_command import report
from .schedule_command import schedule
from .simulate_command import simulate
from .study_command import study
from .terminal import errors
from .trace_command import trace

INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "-V", "--version", prog_name="idlewave")
def cli() -> None:
    """Measure a machine's noise and network, trace an MPI program, and simulate it, under that noise, at any scale."""


for command in (measure, trace, schedule, convert, simulate, study, report, demo, machines, algorithms):
    cli.add_command(command)


def main() -> None:
    """Run the command line. Exit status: 0; 2 wrong use; 3 deadlock; 130 interrupted; 1 any other error."""
    try:
        cli(prog_name="idlewave", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except (click.Abort, KeyboardInterrupt):
        errors.print("interrupted", style="yellow")
        sys.exit(INTERRUPTED)
    except IdlewaveError as error:
        errors.print(f"[bold red]error:[/] {_plain(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)


def _plain(text: str) -> str:
    return text.replace("[", "\\[")

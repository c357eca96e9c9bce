"""Options that the commands of contention share."""

from __future__ import annotations

from pathlib import Path

import click

from ..contention.defaults import RATES, SEED
from ..formatting import si_text
from ..units import parse_size
from .option_types import Count, OutputFolder
from .parameter_options import Numbers

table_argument = click.argument("table", type=click.Path(exists=True, path_type=Path))
rates_option = click.option(
    "--rates",
    type=Numbers(",", parse_size, "bytes per second"),
    default=RATES,
    show_default=",".join(f"{si_text(rate)}B" for rate in RATES),
    help="Rates of the traffic, in bytes per second.",
)
recorded_option = click.option(
    "--from", "recorded", type=click.Path(path_type=Path), help="Show a recorded table instead."
)
folder_option = click.option(
    "-o",
    "--output",
    "folder",
    type=OutputFolder(),
    help="Keep the table here; an interrupted measurement is continued.",
)
seed_option = click.option("--seed", default=SEED, show_default=True, type=Count(0), help="Seed of the random draws.")

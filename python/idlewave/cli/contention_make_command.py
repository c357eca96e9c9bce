"""``idlewave contention make``: traffic into memory, alone."""

from __future__ import annotations

import click

from ..formatting import percent_text, plain_time, volume_text
from ..measurement_parameters import ContentionParameters
from .option_types import Count, Lasting, Size, as_json, print_json
from .parameter_options import option_of
from .terminal import progress_bar, say, say_note


@click.command()
@click.option("--rate", type=Size(1), required=True, help="Bytes per second, such as 1GB.")
@click.option(
    "--for",
    "seconds",
    type=Lasting(0.01, 1e7),
    default=10.0,
    metavar="TIME",
    help="How long: 500ms, 90s, 30m.  [default: 10s]",
)
@click.option("--cores", type=Count(1, 8192), default=1, show_default=True, help="Cores that write.")
@option_of(ContentionParameters, "pattern")
@option_of(ContentionParameters, "stores")
@option_of(ContentionParameters, "buffer")
@option_of(ContentionParameters, "seed")
@as_json
def make(
    rate: int, seconds: float, cores: int, pattern: str, stores: str, buffer: int, seed: int, as_json: bool
) -> None:
    """Write into memory at a rate, from the last cores that this process may use, and say what rate was reached."""
    from ..contention.traffic import Traffic, make_traffic, rate_note

    traffic = Traffic("writer", float(rate), pattern, stores, cores, buffer)
    with progress_bar() as progress:
        summary = make_traffic(traffic, seconds, progress=progress, seed=seed)
    if as_json:
        print_json(summary)
        return
    asked, achieved = summary["asked_rate"], summary["achieved_rate"]
    lasted = plain_time(summary["traffic_seconds"] * 1e12, 4)
    say(
        f"{volume_text(summary['written'])} were written in {lasted} by the CPUs "
        f"{summary['writer_cpus']}: {volume_text(achieved)}/s, {percent_text(achieved / asked)} of the asked rate"
    )
    if not summary["reached"]:
        say_note(rate_note(asked, achieved))

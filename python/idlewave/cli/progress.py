"""Progress displays on the error stream."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING

from ..escaping import printable
from ..formatting import plain_time
from ..schedule import RankProgress
from ..wait_notices import notice_if_slow

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 0.3
"""Seconds before a display appears; for shorter work it would cost more time than the work."""


def doing(description: str) -> AbstractContextManager[None]:
    """Print a notice on the error stream if the block takes long."""
    return notice_if_slow(f"{printable(description, keep='')} …")


@contextmanager
def rank_progress(description: str) -> Iterator[RankProgress]:
    """Show the number of ranks done if the block takes long; yields the function to call with it."""
    begin = time.monotonic()
    bar: Progress | None = None
    with ExitStack() as stack:
        if not _watched():
            stack.enter_context(doing(description))

        def update(done: int, ranks: int) -> None:
            nonlocal bar
            if bar is None:
                if not _watched() or time.monotonic() - begin < PATIENCE:
                    return
                from .terminal import progress_bar

                bar = stack.enter_context(progress_bar(count=True))
                bar.add_task(printable(description, keep=""), total=ranks)
            bar.update(bar.task_ids[0], completed=done)

        yield update


@contextmanager
def share_progress(description: str) -> Iterator[Callable[[float], None]]:
    """The same for a run that reports the share that is done."""
    with rank_progress(description) as update:

        def update_share(share: float) -> None:
            update(round(100 * share), 100)

        yield update_share


@contextmanager
def time_progress(description: str) -> Iterator[Callable[[int], None] | None]:
    """Show the simulated time if the block takes long; yields None if the error stream is no terminal."""
    if not _watched():
        with doing(description):
            yield None
        return
        from .terminal import status

    begin = time.monotonic()
    with ExitStack() as stack:
        shown: Callable[[str], None] | None = None

        def update(now: int) -> None:
            nonlocal shown
            if shown is None:
                if time.monotonic() - begin < PATIENCE:
                    return
                shown = stack.enter_context(status(description))
            shown(f"{description}: {plain_time(now, 4)} simulated")

        yield update


def _watched() -> bool:
    """Whether the error stream is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()

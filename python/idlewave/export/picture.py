"""A recorded timeline as a picture: the ops of each rank over time, for small runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ..errors import UsageError
from ..formatting import time_text
from ..output import output_file
from ..plot_limits import bulk_limits, mark_cut
from ..plot_style import BLUE, INK, ORANGE, STYLE, VERMILLION, finished, new_figure, styled, tidy
from ..provenance import Provenance
from ..provenance_in_files import picture_metadata
from .ops import AWAIT, CALC, RECEIVING, RECV, REMOTE, SEND, Ints, Ops, read_ops
from .spans import cpu_spans, waiting_spans

if TYPE_CHECKING:
    from .ops import Table

MOST_RANKS = 64
MOST_OPS = 20_000
MOST_NUMBERED = 24
DOTS_PER_INCH = 200
UNITS = (("s", 10**12), ("ms", 10**9), ("µs", 10**6), ("ns", 10**3), ("ps", 1))

LATER = 10.0  # a few ops that end so many times later than all others are cut

HALF = 0.38  # of a row is filled on each side of its middle
PALE, GREY, HATCH = "#f4f4f4", "#dedede", "#c4c4c4"
_CHOOSE = "idlewave.export.plot_timeline(ops, ranks=…, since=…, until=…) draws a part"
COLOURS = {CALC: "#bcd0e2", SEND: ORANGE, RECV: BLUE}
LABELS = {CALC: "computation", SEND: "sending", RECV: "receiving"}


@dataclass(frozen=True)
class _Bars:
    """Spans of time (ps), and their lines in the picture."""

    line: Ints
    begin: Ints
    end: Ints

    def where(self, chosen: npt.NDArray[np.bool_]) -> _Bars:
        return _Bars(self.line[chosen], self.begin[chosen], self.end[chosen])

    def draw(self, axes: Axes, unit: int, **looks: Any) -> None:  # noqa: ANN401 - as matplotlib has it
        left, right = self.begin / unit, self.end / unit
        low, high = self.line - HALF, self.line + HALF
        corners = ((left, low), (left, high), (right, high), (right, low))
        axes.add_collection(PolyCollection(list(np.stack([np.stack(c, axis=1) for c in corners], axis=1)), **looks))


@dataclass(frozen=True)
class _Drawn:
    """The ops to draw: their rows, and for each its CPU work and its wait."""

    rows: Ints
    cpu: _Bars
    waiting: _Bars


@styled
def plot_timeline(
    ops: Table, *, ranks: Iterable[int] | None = None, since: int = 0, until: int | None = None, title: str = ""
) -> Figure:
    """What each of `ranks` (default: all) did from `since` to `until` (ps; default: to the end), from recorded ops
    (`Timeline.ops_to_arrow` or `ops_to_pandas`): a line a rank.

    It shows what the CPU does; in it, at the end of each op, how long noise took the CPU away; where an op waited; and
    messages, and puts that were awaited, whose both ends are drawn, from when the CPU had sent them, or handed them to
    the NIC, to when their reception began. What a rank waits for nobody sees if it computes meanwhile. Unless `until`
    is given, a few ops that end ten times later than all others do not squeeze those: the picture ends before, and the
    edge says until when their ranks go on.

    Raises UsageError if that is more than 64 ranks or 20,000 ops, or nothing.
    """
    columns = read_ops(ops)
    lines = _lines(columns, ranks)
    late: dict[int, int] = {}
    if until is None:
        until = _until(columns, since)
        late = {line: end for line, end in enumerate(_line_ends(columns, lines)) if end > until}
    drawn = _drawn(columns, lines, since, until)
    name, unit = next(((n, u) for n, u in UNITS if until - since >= u), UNITS[-1])
    figure = new_figure(1.0 + max(0.6, len(lines) * (0.32 if len(lines) <= 16 else 0.11)))
    axes = figure.subplots()
    axes.set_title(title)
    visible = (until - since) / 200
    _waiting(axes, drawn, unit, visible)
    _bars(axes, columns, drawn, unit)
    _seams(axes, drawn, unit, visible)
    _messages(axes, columns, drawn, unit)
    _axes(axes, list(lines), name)
    axes.set_xlim(since / unit, until / unit)
    mark_cut(axes, "right", list(late), INK, [f"until {time_text(end)}" for end in late.values()])
    figure.legend(handles=_legend(columns, drawn), loc="outside upper left", ncols=6, handlelength=1.6)
    return figure


def write_picture(ops: Table, path: str | Path, *, title: str = "") -> None:
    """Draw the ops, as `plot_timeline` does and with its limits, to `path`, which ends in .png, .svg or .pdf."""
    path = Path(path)
    figure = plot_timeline(ops, title=title)
    with rc_context(STYLE), output_file(path) as file:
        form = path.suffix[1:]
        metadata = picture_metadata(form, Provenance.of_table(ops), title)
        finished(figure).savefig(file, format=form, dpi=DOTS_PER_INCH, metadata=metadata)


def _lines(ops: Ops, ranks: Iterable[int] | None) -> dict[int, int]:
    """The ranks to draw, each with its line."""
    there = np.unique(ops.rank).tolist()
    chosen = there if ranks is None else list(dict.fromkeys(ranks))
    unknown = sorted(set(chosen) - set(there))
    if unknown:
        raise UsageError(f"rank {unknown[0]} has no ops to draw")
    if not chosen:
        raise UsageError("expected at least one rank to draw")
    if len(chosen) > MOST_RANKS:
        raise UsageError(f"a picture has room for {MOST_RANKS} ranks, not for {len(chosen)}; {_CHOOSE}")
    return {rank: line for line, rank in enumerate(chosen)}


def _until(ops: Ops, since: int) -> int:
    """The end of the last op, without a few that end much later than all others."""
    until = int(bulk_limits(ops.end, room=LATER).high)
    return until if until > since else int(ops.end.max())


def _line_ends(ops: Ops, lines: dict[int, int]) -> list[int]:
    """The end of the last op of each line."""
    ends = [0] * len(lines)
    for rank, first, last in ops.bounds():
        if rank in lines:
            ends[lines[rank]] = int(ops.end[first:last].max())
    return ends


def _drawn(ops: Ops, lines: dict[int, int], since: int, until: int) -> _Drawn:
    rows, line, spans = [], [], []
    for rank, first, last in ops.bounds():
        if rank not in lines:
            continue
        times = (*cpu_spans(ops, first, last), *waiting_spans(ops, first, last))
        seen = np.flatnonzero((np.maximum(ops.end[first:last], times[1]) >= since) & (ops.start[first:last] <= until))
        rows.append(first + seen)
        line.append(np.full(len(seen), lines[rank]))
        spans.append([time[seen] for time in times])
    found = np.concatenate(rows)
    if since >= until or not len(found):
        raise UsageError(f"nothing happens on these ranks from {since} to {until} ps")
    if len(found) > MOST_OPS:
        raise UsageError(
            f"a picture has room for {MOST_OPS} ops, not for {len(found)}: choose fewer ranks or less time"
        )
    begin, end, wait, waited = (np.concatenate(columns) for columns in zip(*spans, strict=True))
    places = np.concatenate(line)
    # A reception may continue in the NIC while the CPU does something else, or nothing.
    goes_on = (
        (np.isin(ops.kind[found], RECEIVING) | ops.is_replied[found]) & (end < ops.end[found]) & (wait < ops.end[found])
    )
    waited = np.where(goes_on, ops.end[found], waited)
    return _Drawn(found, _Bars(places, begin, end), _Bars(places, wait, waited))


def _waiting(axes: Axes, drawn: _Drawn, unit: int, least: float) -> None:
    """Draw hatched spans; those shorter than `least` ps are grey, which looks the same and is drawn faster."""
    length = drawn.waiting.end - drawn.waiting.begin
    long, short = drawn.waiting.where(length >= least), drawn.waiting.where((length > 0) & (length < least))
    long.draw(axes, unit, facecolor=PALE, edgecolor=HATCH, hatch="//////", linewidth=0.0, zorder=1)
    short.draw(axes, unit, facecolor=GREY, linewidth=0.0, zorder=1)


def _bars(axes: Axes, ops: Ops, drawn: _Drawn, unit: int) -> None:
    kinds = _kinds(ops, drawn)
    for kind, colour in COLOURS.items():  # a thin edge of the same colour keeps short spans visible
        looks = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.3, "zorder": 2}
        drawn.cpu.where(kinds == kind).draw(axes, unit, **looks)
    _noise(ops, drawn).draw(axes, unit, facecolor=VERMILLION, edgecolor=VERMILLION, linewidth=0.3, zorder=3)


def _kinds(ops: Ops, drawn: _Drawn) -> npt.NDArray[np.int32]:
    """What the CPU does for each op, as a kind that has a colour: it sends for most one-sided ops. An await whose
    put took no CPU stays an await, which has none.
    """
    kinds = ops.kind[drawn.rows]
    receives = ops.is_replied[drawn.rows] | ((kinds == AWAIT) & (drawn.cpu.begin < drawn.cpu.end))
    shown: npt.NDArray[np.int32] = np.select([receives, np.isin(kinds, REMOTE)], [RECV, SEND], kinds)
    return shown


def _seams(axes: Axes, drawn: _Drawn, unit: int, least: float) -> None:
    """Draw a white line between adjacent ops, if both are at least `least` ps long."""
    cpu = drawn.cpu.where(drawn.cpu.end - drawn.cpu.begin >= least)
    order = np.lexsort((cpu.begin, cpu.line))
    line, begin, end = cpu.line[order], cpu.begin[order], cpu.end[order]
    seams = np.flatnonzero((begin[1:] == end[:-1]) & (line[1:] == line[:-1])) + 1
    axes.vlines(begin[seams] / unit, line[seams] - HALF, line[seams] + HALF, "white", linewidth=0.5, zorder=3.5)


def _noise(ops: Ops, drawn: _Drawn) -> _Bars:
    noise = np.minimum(ops.noise[drawn.rows], drawn.cpu.end - drawn.cpu.begin)
    return _Bars(drawn.cpu.line, drawn.cpu.end - noise, drawn.cpu.end).where(noise > 0)


def _messages(axes: Axes, ops: Ops, drawn: _Drawn, unit: int) -> None:
    """Draw a line from the bar of the sender to the nearer edge of the bar of the receiver."""
    place = np.full(len(ops), -1)
    place[drawn.rows] = np.arange(len(drawn.rows))
    receives = np.flatnonzero(_received(ops, drawn, place))
    sends = place[ops.match[drawn.rows[receives]]]
    from_, to = drawn.cpu.line[sends], drawn.cpu.line[receives]
    side = np.sign(to - from_) * HALF
    left = np.stack((drawn.cpu.end[sends] / unit, from_ + side), axis=1)
    right = np.stack((drawn.cpu.begin[receives] / unit, to - side), axis=1)
    width = 0.7 if len(receives) < 200 else 0.35
    axes.add_collection(LineCollection(list(np.stack((left, right), axis=1)), colors=INK, linewidths=width, zorder=4))


def _received(ops: Ops, drawn: _Drawn, place: Ints) -> npt.NDArray[np.bool_]:
    match = ops.match[drawn.rows]
    return (match >= 0) & (place[match] >= 0)


def _axes(axes: Axes, ranks: list[int], unit: str) -> None:
    tidy(axes, "x")
    step = 1
    while len(ranks) > step * MOST_NUMBERED:
        step *= 2
    axes.set_yticks(range(0, len(ranks), step), [str(rank) for rank in ranks[::step]])
    axes.set_ylim(len(ranks) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.set_xlabel(f"time [{unit}]")
    axes.set_ylabel("rank")


def _legend(ops: Ops, drawn: _Drawn) -> list[Patch | Line2D]:
    """The legend: an entry for each kind of mark in the picture."""
    kinds = set(_kinds(ops, drawn).tolist())
    entries: list[Patch | Line2D] = [
        Patch(color=COLOURS[kind], label=LABELS[kind]) for kind in COLOURS if kind in kinds
    ]
    if np.any(drawn.waiting.end > drawn.waiting.begin):
        entries.append(Patch(facecolor=PALE, edgecolor=HATCH, hatch="//////", linewidth=0.0, label="waiting"))
    if len(_noise(ops, drawn).line):
        entries.append(Patch(color=VERMILLION, label="noise"))
    if np.any(ops.match[drawn.rows] >= 0):
        entries.append(Line2D([], [], color=INK, linewidth=0.8, label="message"))
    return entries

"""The picture of a timeline shows what is in the table, and says when there is too much of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_tables import exchange, one_sided, op, table
from idlewave import UsageError
from idlewave.export import plot_timeline
from idlewave.export.ops import CALC, RECV, SEND
from idlewave.export.picture import COLOURS, PALE, write_picture
from idlewave.plot_style import VERMILLION
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure


def bars(figure: Figure, colour: str) -> list[tuple[int, float, float]]:
    """(line, begin, end) of the bars of a colour, in the axis' unit."""
    found = []
    for collection in figure.axes[0].collections:
        if isinstance(collection, PolyCollection) and tuple(collection.get_facecolor()[0]) == to_rgba(colour):
            for path in collection.get_paths():
                box = path.get_extents()
                found.append((round((box.y0 + box.y1) / 2), round(box.x0, 6), round(box.x1, 6)))
    return sorted(found)


def messages(axes: Axes) -> list[list[list[float]]]:
    lines = [c for c in axes.collections if isinstance(c, LineCollection) and c.get_zorder() == 4]
    return [np.round(segment, 6).tolist() for segment in lines[0].get_segments()]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_each_op_is_a_bar_on_the_line_of_its_rank() -> None:
    figure = plot_timeline(exchange())
    assert figure.axes[0].get_xlabel() == "time [µs]"
    assert bars(figure, COLOURS[CALC]) == [(0, 0, 12.0004), (0, 13.0009, 30)]
    assert bars(figure, COLOURS[SEND]) == [(0, 12.0004, 13.0009), (1, 33, 34)]
    assert bars(figure, COLOURS[RECV]) == [(0, 36, 40), (1, 15.5009, 17)]
    assert bars(figure, VERMILLION) == [(0, 10.0004, 12.0004), (0, 39.9993, 40)]
    assert legend(figure) == ["computation", "sending", "receiving", "waiting", "noise", "message"]


def test_a_message_is_a_line_from_when_it_was_sent_to_when_it_is_received() -> None:
    lines = messages(plot_timeline(exchange()).axes[0])
    assert [[x for x, _ in line] for line in lines] == [[34, 36], [13.0009, 15.5009]]


def test_a_receive_waits_for_its_last_bytes_when_the_CPU_has_done_something_else() -> None:
    figure = plot_timeline(table(op(0, 0, "recv", 0, 9_000, work_ps=4_000), op(0, 1, "calc", 5_000, 7_000)))
    assert bars(figure, COLOURS[RECV]) == [(0, 4, 5)]
    assert bars(figure, COLOURS[CALC]) == [(0, 5, 7)]
    assert bars(figure, PALE) == [(0, 0, 9)]  # behind the others


def test_one_sided_ops_are_initiated_and_wait_for_their_target() -> None:
    figure = plot_timeline(one_sided())
    assert bars(figure, COLOURS[SEND]) == [(0, 0, 2), (0, 32, 34), (0, 64, 66), (1, 0, 2), (1, 122, 124)]
    assert bars(figure, COLOURS[CALC]) == [(0, 144, 149), (1, 32, 122)]
    assert bars(figure, COLOURS[RECV]) == []
    assert bars(figure, PALE) == [(0, 2, 32), (0, 34, 64), (0, 66, 144), (1, 2, 32), (1, 124, 144)]
    assert [[x for x, _ in line] for line in messages(figure.axes[0])] == [[2, 12]], "the put, to where it landed"
    assert legend(figure) == ["computation", "sending", "waiting", "message"]


def test_a_CPU_that_completes_one_sided_ops_receives_puts_and_replies() -> None:
    figure = plot_timeline(one_sided(by_cpu=True))
    assert bars(figure, COLOURS[SEND]) == [(0, 0, 2), (0, 155, 157), (1, 0, 2), (1, 128, 130)]
    assert bars(figure, COLOURS[RECV]) == [(0, 142, 145), (1, 12, 15)]
    assert (0, 35, 155) in bars(figure, PALE), "the get waits for its reply, and for the last byte of that"
    assert legend(figure) == ["computation", "sending", "receiving", "waiting", "message"]


def test_a_part_can_be_drawn_and_a_message_needs_both_of_its_ends() -> None:
    figure = plot_timeline(exchange(), ranks=[1], since=10_000_000, until=20_000_000)
    assert figure.axes[0].get_xlim() == (10, 20)
    assert bars(figure, COLOURS[RECV]) == [(0, 15.5009, 17)]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["1"]
    assert messages(figure.axes[0]) == []


def test_what_is_not_in_the_picture_is_not_in_its_legend() -> None:
    assert legend(plot_timeline(table(op(0, 0, "calc", 0, 1000)))) == ["computation"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"ranks": [7]}, "rank 7 has no ops"),
        ({"ranks": []}, "at least one rank"),
        ({"since": 10**9}, "nothing happens"),
        ({"since": 5, "until": 5}, "nothing happens"),
    ],
)
def test_a_part_that_is_not_there_is_refused(options: dict[str, object], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        plot_timeline(exchange(), **options)


def test_too_much_for_a_picture_is_refused_with_how_to_draw_a_part() -> None:
    many = table(*(op(rank, 0, "calc", 0, 1000) for rank in range(65)))
    with pytest.raises(UsageError, match=r"room for 64 ranks, not for 65; .*plot_timeline\(ops, ranks="):
        plot_timeline(many)
    plot_timeline(many, ranks=range(64))
    long = table(*(op(0, place, "calc", place * 1000, place * 1000 + 1000) for place in range(20_001)))
    with pytest.raises(UsageError, match="room for 20000 ops, not for 20001"):
        plot_timeline(long)
    plot_timeline(long, until=1_000_000)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_ops_give_the_same_file(ending: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_picture(exchange(), tmp_path / f"{name}.{ending}", title="exchange")
    one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert len(one) > 1000

"""The sentences of the report of FT: each is made from the rows, and said only if it is true of them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from idlewave.formatting import count_text, join_words, percent_text, plural, seconds_text
from idlewave.studies.ft.measured import disagreements
from idlewave.studies.ft.study import FtStudy

NEGLIGIBLE = 0.0005
"""Shares of the time below which two exchanges count as equally fast."""
BUSY = 1.0
"""Processes beyond those of FT itself that wanted to run, in the mean, from which on the runs count as disturbed."""


def ft_findings(study: FtStudy) -> list[tuple[str, str]]:
    """Topic and sentence."""
    found = []
    for machine, group in study.rows.groupby("machine", sort=False):
        scale = group[group["links"] == group["links"].max()]
        found.append((str(machine), " ".join([fastest(scale), *hidden(scale)])))
    found += [(f"{machine}: why", text) for machine, text in losses(study.losses)]
    if (text := links(study.rows)) is not None:
        found.append(("links", text))
    if said := measured(study):
        found.append(("predicted and measured", " ".join(said)))
    held = sum(row.holds for row in study.beside)
    found.append(
        (
            "published",
            f"{held} of {len(study.beside)} published statements about transfers hold on the simulated preset.",
        )
    )
    return found


def fastest(scale: pd.DataFrame) -> str:
    """Which exchange is the fastest at each number of ranks."""
    by_winner: dict[str, list[int]] = {}
    for ranks, group in scale.groupby("ranks"):
        least = group["seconds"].min()
        winners = group.loc[group["seconds"] <= least * (1 + NEGLIGIBLE), "exchange"]
        by_winner.setdefault(join_words(list(winners)), []).append(int(str(ranks)))
    said = [f"{names} at {_ranks(sizes)}" for names, sizes in by_winner.items()]
    return f"Fastest: {'; '.join(said)}."


def hidden(scale: pd.DataFrame) -> list[str]:
    """What puts hide, and two-sided, and what packed puts cost or gain against those of single slabs."""
    ranks = int(scale["ranks"].max())
    rows = _by_exchange(scale[scale["ranks"] == ranks])
    said = []
    if {"put", "two-sided"} <= {*rows}:
        put, two = rows["put"], rows["two-sided"]
        said.append(
            f"At {count_text(ranks)} ranks puts of slabs hide {percent_text(put['hidden'])} of their communication, "
            f"two-sided messages {percent_text(two['hidden'])}; an iteration takes {seconds_text(put['seconds'])} and "
            f"{seconds_text(two['seconds'])}."
        )
    if {"put", "packed-put"} <= {*rows}:
        packed, put = rows["packed-put"], rows["put"]
        gain = packed["seconds"] / put["seconds"] - 1
        messages = packed["messages"] / put["messages"]
        more = f"{percent_text(abs(gain))} {'more' if gain > 0 else 'less'} time than plain ones"
        longer = "as long as plain ones" if abs(gain) < NEGLIGIBLE else more
        said.append(f"Packed slabs need {percent_text(messages)} of the messages, and take {longer}.")
    return said


def losses(table: pd.DataFrame) -> list[tuple[str, str]]:
    """What two-sided loses against puts: where its critical path is longer."""
    names = {
        "overhead_s": "the CPU's overhead of messages",
        "gap_s": "the NIC's gaps",
        "latency_s": "latency",
        "wire_bytes_s": "bytes on the wire",
        "cpu_bytes_s": "bytes that a CPU copies",
        "computation_s": "computation",
    }
    said = []
    for machine, group in table.groupby("machine", sort=False):
        rows = _by_exchange(group)
        if not {"put", "two-sided"} <= {*rows}:
            continue
        two, put = rows["two-sided"], rows["put"]
        lost = two["seconds"] - put["seconds"]
        if lost <= 0:
            said.append((str(machine), f"At {count_text(two['ranks'])} ranks two-sided loses nothing against puts."))
            continue
        more = sorted(((two[name] - put[name], text) for name, text in names.items()), reverse=True)
        parts = [f"{seconds_text(value)} more of {text}" for value, text in more if value > 0.05 * lost]
        text = (
            f"At {count_text(two['ranks'])} ranks two-sided takes {seconds_text(lost)} longer than puts; its critical "
            f"path has {join_words(parts)}."
        )
        if two["control_steps"]:
            share = two["control_steps"] / two["path_steps"]
            text += f" {percent_text(share)} of the path's steps are requests and clearances of rendezvous."
        text += waiting("two-sided", two) + waiting("put", put)
        said.append((str(machine), text))
    return said


def waiting(exchange: str, row: dict[str, Any]) -> str:
    """How many ops wait for the CPU and for the NIC, and how long."""
    said = [
        f"{count_text(round(row[f'{state}_ops']))} ops of a rank wait for the {state.upper()}, "
        f"{seconds_text(row[f'{state}_s'])} each in the mean"
        for state in ("cpu", "nic")
        if round(row[f"{state}_ops"]) > 0
    ]
    return f" By {exchange} {join_words(said)}." if said else ""


def links(rows: pd.DataFrame) -> str | None:
    """What more links bring, where there are rows of several."""
    for machine, group in rows.groupby("machine", sort=False):
        swept = link_rows(group)
        if swept is None:
            continue
        first, last = int(swept["links"].min()), int(swept["links"].max())
        said = []
        for exchange, own in swept.groupby("exchange", sort=False):
            exposed = own.set_index("links")["exposed_s"]
            if exposed[last] > 0:
                said.append(f"{exchange} {exposed[first] / exposed[last]:.2f}")
        ranks = count_text(int(swept["ranks"].iloc[0]))
        return (
            f"On {machine} with {ranks} ranks, {last} links instead of {first} shorten the communication that is not "
            f"hidden by a factor of: {', '.join(said)}."
        )
    return None


def link_rows(group: pd.DataFrame) -> pd.DataFrame | None:
    """The rows of a machine at the number of ranks that has several numbers of links."""
    for _, rows in group.groupby("ranks"):
        if rows["links"].nunique() > 1:
            return rows
    return None


def measured(study: FtStudy) -> list[str]:
    """Whether the simulation orders the exchanges as the runs do; if not, what differs in the runs."""
    table = study.compared
    if not len(table):
        return []
    apart, wrong = disagreements(table)
    said = [
        f"Of the pairs of exchanges {plural(apart, 'pair')} differ by more than the spread of their runs; the "
        f"simulation has {'all' if not wrong else apart - len(wrong)} of them in the same order."
        if apart
        else "No two exchanges differ by more than the spread of their runs, so there is no order to compare."
    ]
    errors = table["error"]
    said.append(f"Predicted times are off by {percent_text(errors.min(), signed=True)} to "
                f"{percent_text(errors.max(), signed=True)}.")  # fmt: skip
    load = study.runs["load"].median()
    if load > BUSY + study.runs["ranks"].max():
        said.append(
            f"In the minute before a run {load:.1f} processes wanted to run, in the median, besides which the ranks "
            "had to wait for cores: the prediction is for cores of their own."
        )
    for item in wrong:
        said.append(
            f"Class {item.problem}, {item.ranks} ranks: {item.slower} took {percent_text(item.measured)} longer than "
            f"{item.faster}, predicted {percent_text(item.predicted, signed=True)}; in its runs the exchanges were "
            f"{_more(item.more_exchange_s)}, the transforms {_more(item.more_computation_s)}."
        )
    return said


def _by_exchange(rows: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The rows by exchange, of which each has one."""
    return {str(row["exchange"]): {str(name): value for name, value in row.items()} for row in rows.to_dict("records")}


def _more(seconds: float) -> str:
    return f"{seconds_text(abs(seconds))} {'longer' if seconds > 0 else 'shorter'}"


def _ranks(sizes: list[int]) -> str:
    return join_words([count_text(ranks) for ranks in sizes]) + " ranks"

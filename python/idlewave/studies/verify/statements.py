"""What was published or follows in closed form, beside what the rows of the study show, with the reason of a
difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...formatting import count_text, join_words, percent_text, plural, seconds_text, si_text, size_text
from ..seed_statistics import LEAST_SEEDS
from .closed_forms import FORMS, OF_MANY_RANKS
from .pairs import SLACK_NS
from .programs import POP_CALLS, POP_COMPUTE_NS, POP_NEIGHBOURS, POP_SHARE, pop_calls, pop_messages
from .study import FERREIRA_NOISE, GREATEST, JAGUAR, QUIET

if TYPE_CHECKING:
    import pandas as pd

BECKMAN_SIMULATED, BECKMAN_MEASURED = 13, 16
FERREIRA_SIMULATED, FERREIRA_MEASURED = 30, 32
NEAR = 0.2
"""A factor that is by no more than so much below the lower or above the higher published one is near to them."""
LINEAR = 0.95
"""The least coefficient of determination of growth that is linear."""
POP_PUBLISHED_MESSAGES = 625e6
POP_PUBLISHED_RANKS = 32_768
"""Of powers of two, the one on which POP's collectives have about as many messages; it was not published."""
DOUBLED = 2.0
ALGORITHM_WORDS = {"reduce_bcast": "reduce and broadcast", "recursive_doubling": "recursive doubling"}
_AMG_REASON = (
    "the program is like AMG in its halo exchanges on levels alone. Ranks handle messages as they come: a small detour "
    "may change their order, and cost more than itself, or less than nothing"
)
_ASSUMED_NOISE = "that the published factors are those of this noise is assumed"
_NANOSECOND = 1000
YES, NO, OPEN = "yes", "no", "–"
Factor = tuple[float, float, float]
"""Mean, least and greatest over the seeds."""


@dataclass(frozen=True)
class Statement:
    """A line of the table: `holds` is "yes", "no", or "–" where the rows do not decide it."""

    topic: str
    statement: str
    published: str
    here: str
    difference: str
    holds: str
    reason: str = ""


def statements(table: pd.DataFrame) -> list[Statement]:
    """All statements that the rows have something on."""
    by = {str(check): rows for check, rows in table.groupby("check", sort=False)}
    found: list[Statement] = []
    for check, made in (
        ("form", _forms),
        ("delay", _delays),
        ("post", _posts),
        ("beckman", _beckman),
        ("ferreira", _ferreira),
        ("pop", _pop),
        ("amg", _amg),
    ):
        if check in by:
            found += made(by[check])
    return found


def factors(rows: pd.DataFrame) -> dict[tuple[str, int, int], Factor]:
    """By algorithm, frequency and length of detours: how many times as long the allreduces take as without noise."""
    found = {}
    for name, own in rows.groupby("name", sort=False):
        quiet = float(own.loc[own["detour_ps"] == 0, "simulated_ps"].iloc[0])
        for (hertz, length), noisy in own[own["detour_ps"] > 0].groupby(["hertz", "detour_ps"], sort=False):
            found[str(name), int(str(hertz)), int(str(length))] = _factor(noisy["simulated_ps"] / quiet)
    return found


def pop_factors(rows: pd.DataFrame) -> dict[int, Factor]:
    """By number of ranks: how many times as long the POP-like program takes under noise; of runs with different shares
    of POP's calls those with the most seeds."""
    return {int(str(ranks)): _pop_factor(own) for ranks, own in _with_most_seeds(rows).groupby("ranks")}


def _with_most_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["percent"] == rows.groupby("ranks")["percent"].transform(lambda own: own.mode().iloc[0])]


def _pop_factor(rows: pd.DataFrame) -> Factor:
    quiet = float(rows.loc[rows["name"] == QUIET, "simulated_ps"].iloc[0])
    return _factor(rows.loc[rows["name"] == JAGUAR, "simulated_ps"] / quiet)


def _factor(values: pd.Series) -> Factor:
    return float(values.mean()), float(values.min()), float(values.max())


def _forms(rows: pd.DataFrame) -> Iterator[Statement]:
    for name, own in rows.groupby("name", sort=False):
        greatest = int((own["simulated_ps"] - own["reference_ps"]).abs().max())
        most = f"up to {count_text(int(own['ranks'].max()))} ranks and " if name in OF_MANY_RANKS else ""
        here = f"{plural(len(own), 'case')}, {most}up to {size_text(int(own['bytes'].max()))}, on " + join_words(
            [*own["machine"].unique()]
        )
        reason = "the talk counts all s bytes, LogGP and the simulator k = s − 1" if name in OF_MANY_RANKS else ""
        text = FORMS[str(name)].text
        yield Statement(
            "closed forms", str(name), text, here, seconds_text(greatest / 1e12), _answer(greatest == 0), reason
        )


def _delays(rows: pd.DataFrame) -> Iterator[Statement]:
    slack = seconds_text(SLACK_NS / 1e9)
    for name, said, published in (
        ("late receive", "noise at the sender is absorbed if the receive is posted late", "absorbed"),
        ("early receive", "it is not if the receive is posted early", "not absorbed"),
        ("nonblocking receive", "the time between initiation and wait is a buffer", "absorbed"),
    ):
        own = rows[rows["name"] == name]
        lost: dict[int, set[int]] = {}
        for _, one in own.groupby(["machine", "bytes"], sort=False):
            quiet = int(one.loc[one["detour_ps"] == 0, "simulated_ps"].iloc[0])
            for delay, end in zip(one["detour_ps"], one["simulated_ps"], strict=True):
                if delay:
                    lost.setdefault(int(delay), set()).add(int(end) - quiet)
        here = "; ".join(f"{_time(delay)} cost {join_words([_time(cost) for cost in sorted(costs)])}"
                         for delay, costs in sorted(lost.items()))  # fmt: skip
        exact = bool((own["simulated_ps"] == own["reference_ps"]).all())
        within = {cost for delay, costs in lost.items() for cost in costs if delay <= 1000 * SLACK_NS}
        holds = all(
            cost == delay for delay, costs in lost.items() for cost in costs
        ) if name == "early receive" else all(cost < _NANOSECOND for cost in within)  # fmt: skip
        where = "" if name == "early receive" else f" (slack {slack})"
        difference = "0 s from the closed form" if exact else "not the closed form"
        yield Statement("two ranks", said, published, f"detours of {here}{where}", difference, _answer(holds and exact))


def _posts(rows: pd.DataFrame) -> Iterator[Statement]:
    condition = "nobody waits only if T_r = T_s + o_s + L + (k − 1) G + o_r"
    for name, how in (("beside", "the message is handled beside the computation"), ("one CPU", "by the same CPU")):
        own = rows[rows["name"] == name]
        shifts = [int(shift) for shift in own["shift_ps"]]
        holds = all((wait < _NANOSECOND) == (shift == 0) for shift, wait in zip(shifts, own["waits_ps"], strict=True))
        small = own[own["bytes"] == own["bytes"].min()].sort_values("shift_ps")
        said = "; ".join(
            f"{_shift(int(shift))}: {_time(wait)}"
            for shift, wait in zip(small["shift_ps"], small["waits_ps"], strict=True)
        )
        exact = bool((own["simulated_ps"] == own["reference_ps"]).all())
        reason = (
            ""
            if name == "beside"
            else "the CPU that computes until T_r handles o_r and the bytes afterwards: the message does not lie if "
            "T_r = T_s + o_s + L"
        )
        difference = "0 s from the closed form" if exact else "not the closed form"
        yield Statement("two ranks", f"{condition} ({how})", "0 s waited", said, difference, _answer(holds), reason)


def _shift(shift: int) -> str:
    return "then" if shift == 0 else f"{_time(abs(shift))} {'earlier' if shift < 0 else 'later'}"


def _beckman(rows: pd.DataFrame) -> Iterator[Statement]:
    ranks = count_text(int(rows["ranks"].max()))
    found = factors(rows)
    yield from _published(
        found,
        GREATEST,
        f"Beckman et al.: allreduce on {ranks} processes, 1000 Hz of 200 µs",
        (BECKMAN_SIMULATED, BECKMAN_MEASURED),
        {name: f"{reason}; {_ASSUMED_NOISE}" for name, reason in _allreduce_reason(rows, found, GREATEST).items()},
    )
    yield from _growth(rows)


def _growth(rows: pd.DataFrame) -> Iterator[Statement]:
    """Whether the time grows linearly with the length of detours, for each frequency."""
    import numpy as np

    quiet = {str(row["name"]): float(row["simulated_ps"]) for row in _records(rows[rows["detour_ps"] == 0])}
    for (name, hertz), own in rows[rows["detour_ps"] > 0].groupby(["name", "hertz"], sort=False):
        means = own.groupby("detour_ps")["simulated_ps"].mean()
        if len(means) < 3:
            continue
        fit = float(np.corrcoef(means.index.to_numpy(float), means.to_numpy(float))[0, 1] ** 2)
        statement = f"Beckman et al.: the time grows linearly with the noise, {hertz} Hz ({_algorithm(str(name))})"
        difference, reason = _doubling(means - quiet[str(name)])
        yield Statement("allreduce", statement, "linear", f"R² = {fit:.3f}", difference, _answer(fit >= LINEAR), reason)


def _doubling(lost: pd.Series) -> tuple[str, str]:
    """What detours of the greatest length cost by those of half of it, and why that is more than twice as much."""
    longest = int(lost.index.max())
    if longest // 2 not in lost.index or lost[longest // 2] <= 0:
        return "", ""
    factor = float(lost[longest] / lost[longest // 2])
    reason = "an operation that takes longer meets more detours" if factor > DOUBLED * (1 + NEAR / 2) else ""
    return f"detours of {_time(longest)} cost {factor:.1f} times those of {_time(longest // 2)}", reason


def _ferreira(rows: pd.DataFrame) -> Iterator[Statement]:
    found = factors(rows)
    ranks = count_text(int(rows["ranks"].max()))
    assumed = f"the network's parameters and the number of processes ({ranks}) are assumed"
    shared = _allreduce_reason(rows, found, FERREIRA_NOISE)
    yield from _published(
        found,
        FERREIRA_NOISE,
        "Ferreira et al.: allreduce on a Cray XT, 10 Hz of 2.5 ms",
        (FERREIRA_SIMULATED, FERREIRA_MEASURED),
        {name: "; ".join(filter(None, (assumed, shared.get(name, "")))) for name in {str(n) for n in rows["name"]}},
    )


def _published(
    found: dict[tuple[str, int, int], Factor],
    noise: tuple[int, int],
    statement: str,
    published: tuple[int, int],
    reasons: dict[str, str],
) -> Iterator[Statement]:
    """A factor that was published as simulated and measured, by each algorithm."""
    simulated, measured = published
    for (name, *which), (mean, least, most) in found.items():
        if tuple(which) != noise:
            continue
        here = f"{mean:.1f} times as long ({least:.1f} to {most:.1f})"
        near = min(published) * (1 - NEAR) <= mean <= max(published) * (1 + NEAR)
        yield Statement(
            "allreduce", f"{statement}, by {_algorithm(name)}", f"simulated {simulated}, measured {measured} times",
            here, f"{percent_text(mean / simulated - 1, signed=True)} from the simulated, "
            f"{percent_text(mean / measured - 1, signed=True)} from the measured", _answer(near), reasons.get(name, ""),
        )  # fmt: skip


def _allreduce_reason(
    rows: pd.DataFrame, found: dict[tuple[str, int, int], Factor], noise: tuple[int, int]
) -> dict[str, str]:
    """Why an algorithm's factor is another than that of the first one: its time without noise is, and what it loses."""
    quiet = {str(row["name"]): float(row["simulated_ps"]) for row in _records(rows[rows["detour_ps"] == 0])}
    first = next(iter(quiet))
    reasons = {first: "the algorithm is not known; this one has two trees, up and down"}
    for name, time in quiet.items():
        if name == first or (name, *noise) not in found or (first, *noise) not in found:
            continue
        lost = {one: (found[one, *noise][0] - 1) * quiet[one] for one in (first, name)}
        reasons[name] = (
            f"without noise it takes {percent_text(time / quiet[first])} of the time of {_algorithm(first)}, "
            f"and noise costs it {percent_text(lost[name] / lost[first])} of what it costs that"
        )
    return reasons


def _algorithm(name: str) -> str:
    return ALGORITHM_WORDS.get(name, name)


def _pop(rows: pd.DataFrame) -> Iterator[Statement]:
    last = rows[rows["name"] == QUIET].sort_values(["ranks", "percent"]).iloc[-1]
    most, percent = int(last["ranks"]), int(last["percent"])
    calls, whole = pop_calls(most, percent), pop_calls(POP_PUBLISHED_RANKS, 100)
    simulated, collectives = int(last["messages"]), pop_messages(most, percent)
    counted = simulated == collectives + POP_NEIGHBOURS * most * calls["halo2d"]
    decided = percent == 100 and most & (most - 1) == 0
    made = f"{', '.join(f'{calls[name]} {name}' for name in POP_CALLS)} on {count_text(most)} ranks"
    if percent < 100:
        made = f"{percent} % of them: {made}"
    wanted = ", ".join(f"{count} {name}" for name, count in POP_CALLS.items())
    made += f", {si_text(simulated)} messages{' as these calls have' if counted else ''}"
    yield Statement("POP", "collectives", wanted, made, "", _answer(counted) if decided else OPEN)
    halos = POP_NEIGHBOURS * POP_PUBLISHED_RANKS * whole["halo2d"]
    messages = pop_messages(POP_PUBLISHED_RANKS) + halos
    share, own = halos / messages, 1 - collectives / simulated
    yield Statement(
        "POP",
        "nonblocking point-to-point messages",
        percent_text(POP_SHARE),
        percent_text(own) if decided else f"{percent_text(share)} with all calls, by their formula",
        "",
        _answer(abs(own - POP_SHARE) < POP_SHARE / 4) if decided else OPEN,
        "" if decided else "with few calls one halo exchange is the least",
    )
    yield Statement(
        "POP",
        "messages",
        f"more than {si_text(POP_PUBLISHED_MESSAGES)}",
        f"{si_text(simulated)} on {count_text(most)} ranks"
        if decided
        else f"{si_text(messages)} with all calls on {count_text(POP_PUBLISHED_RANKS)} ranks, by their formula",
        percent_text((simulated if decided else messages) / POP_PUBLISHED_MESSAGES - 1, signed=True),
        _answer(simulated > POP_PUBLISHED_MESSAGES) if decided and most >= POP_PUBLISHED_RANKS else OPEN,
        "the number of processes and the algorithms were not published; the nearest power of two is assumed",
    )
    yield _slowdown(rows)


def _slowdown(rows: pd.DataFrame) -> Statement:
    """Decided on the most ranks that have enough seeds."""
    found = pop_factors(rows)
    most_seeds = _with_most_seeds(rows)
    seeds = most_seeds[most_seeds["name"] == JAGUAR].groupby("ranks").size()
    enough = [ranks for ranks in found if seeds[ranks] >= LEAST_SEEDS]
    most = max(enough, default=max(found))
    texts = [f"{mean:.1f} times on {count_text(ranks)}" for ranks, (mean, _, _) in sorted(found.items())]
    mean, least, _ = found[most]
    here = ", ".join(texts) + " ranks"
    if len(whole := rows[rows["percent"] == 100]) and len(rows["percent"].unique()) > 1:
        here += f"; with all calls {_pop_factor(whole)[0]:.1f} times on {count_text(int(whole['ranks'].iloc[0]))}"
    holds = OPEN if not enough else YES if least > DOUBLED else NO if most >= POP_PUBLISHED_RANKS else OPEN
    compute = seconds_text(POP_COMPUTE_NS / 1e9)
    return Statement(
        "POP", "POP on Jaguar is more than twice as slow", "more than 2 times", here,
        f"{mean / DOUBLED:.1f} times the doubling", holds,
        f"the shape of the noise (0.02 % of the time), and {compute} of computation after each call, are assumed",
    )  # fmt: skip


def _amg(rows: pd.DataFrame) -> Iterator[Statement]:
    for name, statement in (
        ("centre", "AMG: point-to-point messages propagate"),
        ("corner", "AMG: point-to-point messages absorb"),
    ):
        texts, lost = [], {}
        for row in _records(rows[rows["name"] == name]):
            delay, ranks = int(row["detour_ps"]), int(row["ranks"])
            lost[delay] = int(row["simulated_ps"]) - int(row["reference_ps"])
            texts.append(
                f"a detour of {_time(delay)} on the rank in the {name} costs {_time(lost[delay])}, and "
                f"{int(row['later'])} of {ranks} ranks are later"
            )
        propagates = name == "centre"
        holds = any((cost > delay / 2) == propagates for delay, cost in lost.items())
        yield Statement("AMG", statement, "both occur", "; ".join(texts), "", _answer(holds), _AMG_REASON)


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _time(picoseconds: float) -> str:
    return seconds_text(float(picoseconds) / 1e12)


def _answer(holds: bool) -> str:
    return YES if holds else NO


def held(found: Sequence[Statement]) -> tuple[int, int]:
    """How many of the statements hold, and how many are decided."""
    decided = [one for one in found if one.holds != OPEN]
    return sum(one.holds == YES for one in decided), len(decided)

"""From samples of patterns to a machine's parameters, and to what these are good for: the error on each pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ....errors import MeasurementError
from ....formatting import percent_text, plain_time, plural, size_text
from ....machine import Level, Machine
from ....units import PICOSECONDS
from .cold_cache_fit import ColdCacheFit, fit_cold_caches
from .fitted_piece import FittedPiece
from .loggp import median_interval
from .machine_speeds import NONE, Speed, Speeds, find_speeds, usual_or
from .pattern_fit import PatternRange, PieceFits, fit_patterns, level_of_ranges, with_intervals
from .pattern_times import AFTER, COLD, KEYS, NOT_FITTED, PATTERNS, PEERS, PatternPrograms, items_of

GOOD, FAIR = 0.05, 0.1
"""Errors below which a prediction is good, or fair."""
HALF_IN_PS = 500.0
"""From a round trip in ns to one way in ps."""
CHANGED = 0.1
"""Share of the samples without a speed above which that is said."""
FEWEST = 7
"""Samples below which a median has hardly an interval."""


@dataclass(frozen=True)
class PatternFit:
    """Parameters fitted to patterns, and the error of the simulation with them.

    ranges: by size, the first from 0. S: the largest eager message in bytes; None: every message is eager. table: a row
    a pattern, window and size: delay_ns, samples, median_ps with its 95 % interval (low_ps, high_ps), simulated_ps, and
    error, simulated over measured less 1. speeds: a row a speed of the machine: pilot_ns, share, reference_ns. speed:
    the number of the one that all of this is about, but for exchanges after computations that have no sample at it.
    epochs: the starts of the probe. notes: sentences. cold: the extra time of messages after a computation; None if
    that was not measured, or there is none.
    """

    ranges: tuple[PatternRange, ...]
    S: int | None
    table: pd.DataFrame
    speeds: pd.DataFrame
    speed: int
    epochs: int
    notes: tuple[str, ...]
    cold: ColdCacheFit | None = None

    @property
    def level(self) -> Level:
        """The network for the simulator."""
        return level_of_ranges(self.ranges, self.S)


def pattern_table(samples: pd.DataFrame) -> pd.DataFrame:
    """A row a pattern, window, size and delay_ns: samples, median_ps of one repetition, and its 95 %
    interval, low_ps and high_ps. `samples`: see PatternMeasurement."""
    each = samples["elapsed_ns"] / samples["repetitions"] * 1000.0
    rows = []
    for keys, values in each.groupby([samples[key] for key in KEYS]):
        median, low, high, count = median_interval(values.to_numpy())
        rows.append((*keys, count, median, low, high))
    table = pd.DataFrame(rows, columns=[*KEYS, "samples", "median_ps", "low_ps", "high_ps"])
    order = {pattern: i for i, pattern in enumerate(PATTERNS)}
    return table.sort_values(KEYS, key=lambda c: c.map(order) if c.name == "pattern" else c, ignore_index=True)


def variants_of(table: pd.DataFrame) -> pd.Series:
    """Which variant of its pattern each row is: its window, or the length of the computation before an exchange."""
    after = table["pattern"] == AFTER
    lengths = [plain_time(delay * PICOSECONDS["ns"]) for delay in table["delay_ns"]]
    return table["window"].astype(str).where(~after, lengths).rename("variant")


def with_errors(table: pd.DataFrame, machine: Machine) -> pd.DataFrame:
    """`table` with simulated_ps, by the simulation of `machine`, and error: simulated over measured, less 1."""
    simulated = PatternPrograms(items_of(table)).times(machine)
    return table.assign(simulated_ps=simulated, error=simulated / table["median_ps"].to_numpy() - 1)


def assess_patterns(
    samples: pd.DataFrame, changes: Sequence[int] = (), seen_limit: int | None = None, speed: int | None = None
) -> PatternFit:
    """Fit the parameters to `samples` (see PatternMeasurement).

    `changes`: the first size of each protocol that is known. `seen_limit`: the largest message whose send was not seen
    to wait for its receiver; None if none was. `speed`: the number of the machine's speed, as in `speeds`; None: the
    usual one. Raises UsageError for a speed that the machine did not have, MeasurementError if
    every sample was interrupted.
    """
    speeds = find_speeds(samples)
    chosen = usual_or(speeds, speed)
    undisturbed = samples["disturbed"].to_numpy() == 0
    at_speed = samples.loc[undisturbed & (speeds.of_sample == chosen)]
    if at_speed.empty:
        raise MeasurementError("every sample of a pattern was interrupted: measure on a quieter machine, or for longer")
    elsewhere = _after_at_other_speeds(samples[undisturbed & (speeds.of_sample != NONE)], at_speed)
    own = pd.concat([at_speed, elsewhere])
    whole = pattern_table(own)
    epochs = _epoch_tables(at_speed, samples[undisturbed])
    cold = fit_cold_caches(own)
    S, fits = seen_limit, PieceFits(whole, [*changes, *([] if seen_limit is None else [seen_limit + 1])], epochs)
    pieces, table = _fitted(whole, fits, S, cold)
    too_quick = False
    if S is not None and _off(table, S) > GOOD:
        others, other_table = _fitted(whole, fits, None, cold)
        too_quick = _off(other_table, S) < _off(table, S)
        if too_quick:
            pieces, table, S = others, other_table, None
    ranges = with_intervals(fits, pieces)
    notes = [
        *_speed_notes(speeds, chosen),
        *_other_speed_notes(elsewhere, chosen),
        *_epoch_notes(at_speed, samples, chosen),
        *_error_notes(table),
        *([] if cold is None else [cold.note]),
        *_held_out_notes(table, fits.held_out),
        *_sample_notes(samples, table),
    ]
    if too_quick and seen_limit is not None:
        notes.append(
            f"Sends of more than {size_text(seen_limit)} wait for their receiver, but take less time than a rendezvous "
            "of the simulator's rules: such messages are eager here, and a simulated send does not wait."
        )
    return PatternFit(tuple(ranges), S, table, speeds.table, chosen, at_speed["epoch"].nunique(), tuple(notes), cold)


def _epoch_tables(at_speed: pd.DataFrame, samples: pd.DataFrame) -> list[pd.DataFrame]:
    """The medians of each epoch: of its samples at the speed, or of those at all speeds where a row has none. How far a
    row differs between epochs is not known otherwise: then it differs as much as the speeds do."""
    known = {epoch: pattern_table(part).set_index(KEYS) for epoch, part in at_speed.groupby("epoch")}
    tables = []
    for epoch, part in samples.groupby("epoch"):
        every = pattern_table(part).set_index(KEYS)
        tables.append((known[epoch].combine_first(every) if epoch in known else every).reset_index())
    return tables


def _epoch_notes(at_speed: pd.DataFrame, samples: pd.DataFrame, chosen: int) -> list[str]:
    """That what the intervals know of other epochs is of other speeds."""
    epochs = samples["epoch"].nunique()
    if epochs == 1 or at_speed["epoch"].nunique() > 1:
        return []
    return [
        f"Speed {chosen} was met in one of {plural(epochs, 'epoch')}: the intervals are as wide as the epochs differ, "
        "at all their speeds."
    ]


def _after_at_other_speeds(samples: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """The samples of those exchanges after computations of which `own`, those at one speed, has none: they take long,
    and few meet a speed that is rare."""
    after = samples[samples["pattern"] == AFTER]
    known = pd.MultiIndex.from_frame(own[KEYS])
    return after[~pd.MultiIndex.from_frame(after[KEYS]).isin(known)]


def _fitted(
    whole: pd.DataFrame, fits: PieceFits, S: int | None, cold: ColdCacheFit | None
) -> tuple[list[FittedPiece], pd.DataFrame]:
    pieces = fit_patterns(fits, S)
    machine = Machine("fitted", level_of_ranges(pieces, S), cold_caches=None if cold is None else cold.costs)
    return pieces, with_errors(whole, machine)


def _off(table: pd.DataFrame, S: int) -> float:
    """The median error beyond S; 0 if nothing was measured there."""
    errors = table.loc[(table["size"] > S) & ~table["pattern"].isin(NOT_FITTED), "error"].abs()
    return float(errors.median()) if len(errors) else 0.0


def error_summary(table: pd.DataFrame) -> str:
    """A sentence on the errors of a table of `with_errors`."""
    warm = table[~table["pattern"].isin(NOT_FITTED)]
    if warm.empty:
        return "No pattern with warm buffers was measured."
    off = warm["error"].abs()
    worst = warm.iloc[int(off.to_numpy().argmax())]
    good, fair = (percent_text(float((off <= limit).mean())) for limit in (GOOD, FAIR))
    where = f"{worst['pattern']}, window {worst['window']}, {size_text(int(worst['size']))}"
    return (
        f"The simulation is within {percent_text(GOOD)} on {good} of the rows with warm buffers and within "
        f"{percent_text(FAIR)} on {fair}; the median error is {percent_text(float(off.median()))}, the largest "
        f"{worst['error']:+.0%} ({where}).{_peers_summary(table)}{_after_summary(table)}"
    )


def _peers_summary(table: pd.DataFrame) -> str:
    """A further sentence on several peers, if they were measured."""
    off = table.loc[table["pattern"] == PEERS, "error"].abs()
    if off.empty:
        return ""
    median, most = (percent_text(float(value)) for value in (off.median(), off.max()))
    return (
        f" Of several peers at once, to which no parameter is fitted, the median error is {median}, the largest {most}."
    )


def _after_summary(table: pd.DataFrame) -> str:
    """A further sentence on exchanges after computations, if they were measured."""
    off = table.loc[table["pattern"] == AFTER, "error"].abs()
    if off.empty:
        return ""
    median, most = (percent_text(float(value)) for value in (off.median(), off.max()))
    return f" Of exchanges after computations the median error is {median}, the largest {most}."


def _error_notes(table: pd.DataFrame) -> list[str]:
    cold = table.loc[table["pattern"] == COLD, "error"]
    notes = [error_summary(table)]
    if len(cold) and cold.min() < -FAIR:
        times = f"{1 / (1 + float(cold.min())):.2g}"
        notes.append(
            f"Messages from and to buffers that have left the caches take up to {times} times as long as simulated: "
            "the parameters of the network are those of warm buffers."
        )
    return notes


def _other_speed_notes(elsewhere: pd.DataFrame, chosen: int) -> list[str]:
    """That exchanges after computations have samples of other speeds."""
    if elsewhere.empty:
        return []
    count = len(elsewhere[KEYS].drop_duplicates())
    return [
        f"{plural(count, 'exchange')} after a computation had no sample at speed {chosen}: all their samples count."
    ]


def _held_out_notes(table: pd.DataFrame, held_out: pd.DataFrame) -> list[str]:
    """How far the parameters hold for sizes to which they were not fitted."""
    if held_out.empty:
        return []
    off = table.loc[table["size"].isin(held_out["size"]) & ~table["pattern"].isin(NOT_FITTED), "error"].abs()
    median, fair = percent_text(float(off.median())), percent_text(float((off <= FAIR).mean()))
    return [
        f"On {held_out['size'].nunique()} sizes that were held out of the fit, the median error is {median}; "
        f"{fair} of the rows are within {percent_text(FAIR)}."
    ]


def _speed_notes(speeds: Speeds, chosen: int) -> list[str]:
    notes = []
    reference = speeds.each[chosen].reference
    if len(speeds.each) > 1:
        each = [
            f"speed {number} with {_shown_by(speed)} ({percent_text(float(share))} of the samples)"
            for number, (speed, share) in enumerate(zip(speeds.each, speeds.table["share"], strict=True))
        ]
        seen_by = "" if reference is None else " and that of 6,000 additions"
        notes.append(
            f"The machine had {len(speeds.each)} speeds, seen by the time of a message of one byte{seen_by}: "
            f"{'; '.join(each)}. The parameters are those of speed {chosen}; `measure network --from RECORDING --speed "
            "N` gives another's."
        )
    if reference is not None and reference.shared:
        notes.append(f"At speed {chosen} something else shared the cores, or they were slower than at other times.")
    if speeds.changed > CHANGED:
        notes.append(
            f"{percent_text(speeds.changed)} of the samples of patterns are left out: the speed changed beside them, "
            "or was a rare one."
        )
    if (without := 1 - speeds.rows[chosen]) > CHANGED:
        notes.append(
            f"{percent_text(without)} of the patterns and sizes have no sample at the speed of the parameters."
        )
    return notes


def _shown_by(speed: Speed) -> str:
    """A message of one byte one way, and the reference computation."""
    way = f"{plain_time(speed.pilot_ns * HALF_IN_PS)} a message"
    if speed.reference is None:
        return way
    cores = "shared or slower" if speed.reference.shared else "unshared"
    return f"{way}, cores {cores} ({plain_time(speed.reference.median_ns * PICOSECONDS['ns'])})"


def _sample_notes(samples: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    notes = []
    disturbed = float((samples["disturbed"] > 0).mean())
    if disturbed > GOOD:
        notes.append(f"{percent_text(disturbed)} of the samples of patterns were interrupted, and are left out.")
    return [*notes, *few_samples_notes("patterns", table)]


def few_samples_notes(measured: str, table: pd.DataFrame) -> list[str]:
    """A sentence on what was `measured`, if a row of its table has few `samples`."""
    fewest = int(table["samples"].min())
    if fewest >= FEWEST:
        return []
    return [f"Some {measured} have only {plural(fewest, 'sample')}: more seconds make their medians reliable."]

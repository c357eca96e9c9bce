"""The section on contention in memory: impact, correlations, remedies and detectors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from idlewave.contention.analysis import ContentionAnalysis, same_table
from idlewave.contention.detection_plots import plot_detector_scores, plot_importances
from idlewave.contention.findings import contention_findings
from idlewave.contention.plots import (
    plot_contention_correlations,
    plot_contention_impact,
    plot_contention_remedies,
)
from idlewave.contention.wording import (
    across_rows,
    correlation_rows,
    impact_rows,
    impurity_rows,
    model_rows,
    remedy_rows,
    score_rows,
    suffering_rows,
    talk_rows,
)
from idlewave.formatting import join_words, plural
from idlewave.report.consistency import CONTENTION
from idlewave.report.report_figure import ReportFigure
from idlewave.report.sections import Section, table_of_rows
from idlewave.report.tables import Table

TITLE = "Contention in memory"
MOST_ROWS = 60
"""A table lists so many settings at most; `idlewave contention measure --from` shows all."""
_EMULATED = (
    "What writes is an emulation: threads, or an MPI rank, on the cores that are named. A slowdown says what this "
    "machine's memory does under such a rate of stores, not what a NIC would do."
)
_IMPACT = (
    "Geometric means over pairs of runs, without and with traffic, in random order; 95\u202f% intervals by bootstrap "
    "over pairs and iterations. That a victim suffers is tested by exchanging the runs of a pair, one-sided: of "
    "victims without an effect at most 5\u202f% are said to suffer; the first sentences of the report correct that for "
    "all victims."
)
_CORRELATIONS = (
    "Pearson's, over all victims, each value over the victim's median without traffic; 95\u202f% intervals by "
    "bootstrap over runs, not corrected for their number; said is what goes with the time beyond chance, by permuting "
    "the runs of each victim, corrected for all columns. The talk's are of other machines, other programs and RDMA."
)
_REMEDIES = (
    "By a model: a computation of a second waits for its slowest core; a reserved core is lost to it. The threshold is "
    "the lowest demand from which on reserving takes less time than throttling."
)
_DETECTORS = (
    "A tree may have seen the neighbours of an iteration, so scores out of bag may be higher than those on held-out "
    "pairs of runs. Scores are of this machine; those of the talk are of counters, other machines and RDMA."
)
_TALK = "the talk on network-induced memory contention (Grant, Groves and others)"


def contention_section(found: ContentionAnalysis) -> Section:
    """Findings, figures and tables of a table of contention."""
    tables = [table for table in _tables(found) if table.rows]
    return Section(
        CONTENTION, TITLE, _about(found), contention_findings(found), list(_figures(found)), tables, _rests(found)
    )


def _about(found: ContentionAnalysis) -> str:
    victims = join_words([str(victim) for victim in dict.fromkeys(found.table["victim"])])
    pairs = int(found.impact["pairs"].sum())
    text = f"{found.name}: {victims}, in {plural(pairs, 'pair')} of runs without and with traffic into memory"
    return text + ("." if found.remedy is None else f"; remedies: {found.remedy.name}.")


def _figures(found: ContentionAnalysis) -> Iterator[ReportFigure]:
    caption = (
        "How many times as long an iteration takes with traffic, over the rate that was reached: a line for each kind "
        "of traffic and number of cores that write, with 95\u202f% intervals."
    )
    yield ReportFigure("contention-impact", caption, lambda: plot_contention_impact(found.impact), CONTENTION)
    if len(found.correlations):
        caption = (
            "Correlations of the time of an iteration, and of stalled cycles or what takes their place, with counters "
            f"and probes, with 95\u202f% intervals; right: table IV of {_TALK}."
        )
        drawn = lambda: plot_contention_correlations(found.correlations)  # noqa: E731
        yield ReportFigure("contention-correlations", caption, drawn, CONTENTION)
    for place, remedies in enumerate(found.remedies, start=1):
        caption = (
            f"Remedies for {remedies.victim}: the time beyond a second of computation until it and the transfer have "
            "ended, with 95\u202f% intervals."
        )
        name = "contention-remedies" if place == 1 else f"contention-remedies-{place}"
        yield ReportFigure(
            name, caption, partial(plot_contention_remedies, remedies.table, remedies.threshold), CONTENTION
        )
    if found.evaluation is not None:
        scores, importances = found.evaluation.scores, found.evaluation.importances
        caption = (
            "Iterations that random forests classify correctly as with or without traffic: a forest for each victim "
            f"and feature set, with 95\u202f% intervals; diamonds: {_TALK}, for the application that the victim is "
            "like."
        )
        yield ReportFigure("detector-scores", caption, lambda: plot_detector_scores(scores), CONTENTION)
        caption = (
            "Importances: by how much the share of held-out iterations that is classified correctly falls if the "
            "column is permuted, with 95\u202f% intervals. Of two columns that say the same neither falls much."
        )
        yield ReportFigure("detector-importances", caption, lambda: plot_importances(importances), CONTENTION)


def _tables(found: ContentionAnalysis) -> Iterator[Table]:
    impact = found.impact
    cut = "" if len(impact) <= MOST_ROWS else f"; the first {MOST_ROWS} of {len(impact)}"
    caption = f"Impact on an iteration, with 95\u202f% intervals{cut}"
    yield table_of_rows(caption, impact_rows(impact.head(MOST_ROWS)), 3)
    yield table_of_rows("Whether victims suffer, over all settings", suffering_rows(found.suffering), 2)
    yield table_of_rows("Correlations, with 95\u202f% intervals", correlation_rows(found.correlations))
    if len(found.correlations):
        yield table_of_rows(f"The same in table IV of {_TALK}", talk_rows())
    for remedies in found.remedies:
        caption = f"Remedies for {remedies.victim}: time beyond the computation's, by demand, with 95\u202f% intervals"
        yield table_of_rows(caption, remedy_rows(remedies))
    if found.evaluation is not None:
        caption = "Detectors of each victim alone: shares of iterations classified correctly, with 95\u202f% intervals"
        yield table_of_rows(caption, score_rows(found.evaluation), 3)
        yield table_of_rows("Victims that a forest was not trained on", across_rows(found.evaluation), 3)
    if found.known is not None:
        model = found.known.detector
        yield table_of_rows(f"The model {found.known.name}: its victims together", model_rows(model), 2)
        caption = "Its importances: shares in what the decisions of its trees lower the impurity by"
        yield table_of_rows(caption, impurity_rows(model), 2)


def _rests(found: ContentionAnalysis) -> list[tuple[str, str]]:
    rests = [("traffic", _EMULATED), ("impact", _IMPACT)]
    if len(found.correlations):
        rests.append(("correlations", _CORRELATIONS))
    if found.remedies:
        cores = found.remedies[0].node_cores
        rests.append(("remedies", f"{_REMEDIES} The node has {cores} cores, those that the measurement could use."))
    if found.evaluation is not None:
        rests.append(("detectors", _DETECTORS))
    if found.known is not None and not same_table(found, found.known.detector):
        rests.append(("detectors", f"The model {found.known.name} was trained on another table than {found.name}."))
    return rests + [("note", note) for note in found.notes]

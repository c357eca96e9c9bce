"""Over which networks a study's messages went, in words."""

from __future__ import annotations

from idlewave.machine import BETWEEN, Scope
from idlewave.report.data import StudyData
from idlewave.wording import plural, time_text


def scope_text(study: StudyData) -> str:
    """What a message costs on its way at the study's largest scale; empty where the study does not tell.

    Such as "messages within a node of 4 ranks have L = 243 ns, those between nodes L = 1.31 µs of infiniband-hdr".
    """
    scope = study.scope
    if scope is None or study.runs.empty:
        return ""
    ranks = int(study.runs["ranks"].max())
    latency = f"L = {time_text(scope.latency)}"
    node = plural(scope.node_ranks or 1, "rank")
    if scope.beyond_node(ranks):
        return f"all messages have {latency} as on one node of {node}, and no network between nodes is in these times"
    if scope.node_ranks is not None and ranks <= scope.node_ranks:
        return "all ranks are on one node"
    if scope.node_latency is not None:
        within = f"L = {time_text(scope.node_latency)}"
        return f"messages within a node of {node} have {within}, those between nodes {latency}{_of(scope)}"
    if scope.measured == BETWEEN:
        return f"all messages have {latency}{_of(scope)}, as between nodes"
    return ""


def scope_sentence(study: StudyData) -> str:
    """`scope_text` as a sentence behind another one."""
    text = scope_text(study)
    return f" {text[0].upper()}{text[1:]}." if text else ""


def scope_caveat(study: StudyData) -> str:
    """What is to be said beside that: whose network it is, or that nothing is known of it."""
    if study.scope is None:
        return " Over which networks its messages went, the study does not say."
    text = scope_sentence(study)
    if study.scope.network and text:
        text += f" The network of {study.scope.network} was not measured on this machine."
    return text


def _of(scope: Scope) -> str:
    return f" of {scope.network}" if scope.network else ""

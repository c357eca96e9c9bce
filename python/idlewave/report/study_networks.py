"""The networks over which a study's messages went, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..formatting import plural, time_text
from ..machine import BETWEEN, Scope

if TYPE_CHECKING:
    import pandas as pd


def networks_text(study: pd.DataFrame, scope: Scope | None) -> str:
    """The latency of the messages at the study's largest scale; empty where the study does not say.

    Such as "messages within a node of 4 ranks have L = 243 ns, those between nodes L = 1.31 µs of infiniband-hdr".
    """
    if scope is None or study.empty:
        return ""
    ranks = int(study["ranks"].max())
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


def networks_sentence(study: pd.DataFrame, scope: Scope | None) -> str:
    """`networks_text` as a sentence that follows another one."""
    text = networks_text(study, scope)
    return f" {text[0].upper()}{text[1:]}." if text else ""


def networks_caveat(study: pd.DataFrame, scope: Scope | None) -> str:
    """The same with whose network it is, or the sentence that the networks are not known."""
    if scope is None:
        return " Over which networks its messages went, the study does not say."
    text = networks_sentence(study, scope)
    if scope.network and text:
        text += f" The network of {scope.network} was not measured on this machine."
    return text


def _of(scope: Scope) -> str:
    return f" of {scope.network}" if scope.network else ""

"""S is found from the sends whose receivers are late, and what cannot be told is said."""

from __future__ import annotations

import numpy as np
import pytest
from emulated_samples import emulate
from idlewave.errors import MeasurementError
from idlewave.measure import Network, estimate
from idlewave.measure.network.plots.curve_plot import plot_fit
from idlewave.measure.network.transports import Transport
from known_networks import PUBLISHED, RENDEZVOUS

TCP = Transport("tcp", needs_mpi=False, rendezvous=False, shared_memory=False)
PUT = Transport("put", receives=False, rendezvous=False)
GET = Transport("get", passive=True, receives=False, rendezvous=False)


@pytest.fixture(scope="module")
def rendezvous():
    return emulate(RENDEZVOUS["infiniband"], seed=1, new_series=True)


@pytest.fixture(scope="module")
def eager():
    return emulate(Network(PUBLISHED["tcp-gige"].ranges, None), seed=1, new_series=True)


@pytest.mark.parametrize("limit", [None, 12_288, 12_288 + 80])
def test_s_needs_no_word_of_the_library_and_agrees_with_one_that_counts_its_header(rendezvous, limit):
    fit = estimate(rendezvous, limit)
    assert (fit.S, fit.S_bounds) == (12_288, (12_288, 12_288))
    assert not any("eager limit" in note for note in fit.notes)


def test_a_library_that_names_another_limit_is_not_believed_and_that_is_said(rendezvous):
    fit = estimate(rendezvous, 65_536)
    assert fit.S == 12_288
    assert any("names an eager limit of 65536 B, but a send waits" in note for note in fit.notes)


def test_sizes_between_which_s_lies_are_its_bounds(rendezvous):
    coarse = rendezvous[~rendezvous["size"].between(12_200, 12_400)]
    fit = estimate(coarse)
    low, high = fit.S_bounds
    assert low <= 12_288 <= high
    assert low == fit.S
    assert fit.ranges[1].onset == (low + 1, high + 1)
    assert any(f"S lies between {low} and {high} B" in note for note in fit.notes)


def test_one_disturbed_late_send_does_not_move_s(rendezvous):
    spoilt = rendezvous.copy()
    one = (spoilt["series"] == "late") & (spoilt["size"] == 64) & (spoilt["repetition"] < 20)
    spoilt.loc[one, "value_ns"] = spoilt.loc[one, "delay_ns"] * 3
    assert estimate(spoilt).S == 12_288


def test_without_a_send_that_waits_there_is_no_s(eager):
    fit = estimate(eager, 1024)
    assert fit.S is None
    assert any("No send of up to 262144 B waited" in n and "names a limit of 1024 B" in n for n in fit.notes)


@pytest.mark.parametrize(
    ("S", "words"),
    [
        (0, r"every send waited for its receiver, from 1 B on: .* \(S = 0\) is not estimated"),
        (3, "expected at least 6 message sizes up to the eager limit of 3 B, found 3"),
    ],
)
def test_a_network_of_which_too_few_messages_are_eager_is_said_to_be_one(S, words):
    with pytest.raises(MeasurementError, match=words):
        estimate(emulate(Network(PUBLISHED["odin"].ranges, S), seed=1, repetitions=8, new_series=True))


def test_a_send_that_waits_for_full_buffers_is_no_rendezvous(eager):
    spoilt = eager.copy()
    full = (spoilt["series"] == "late") & (spoilt["size"] > 65_536)
    spoilt.loc[full, "value_ns"] = spoilt.loc[full, "delay_ns"]
    fit = estimate(spoilt, transport=TCP)
    assert fit.S is None
    assert any("A send of more than 65536 B lasts as long as its receiver is late" in note for note in fit.notes)
    assert any("Beyond 65536 B the library's rendezvous is quicker" in n for n in estimate(spoilt).notes)


def test_one_sided_transports_have_no_rendezvous_and_a_get_no_receiver(eager):
    fit = estimate(eager[eager["series"] != "late"], transport=PUT)
    assert fit.S is None
    with pytest.raises(MeasurementError, match="none of the series wait"):
        estimate(eager[eager["series"] != "wait"], transport=PUT)
    got = estimate(eager[eager["series"] != "wait"], transport=GET)
    assert all("o_r" in r.hidden and r.parameters.o_r == 0 for r in got.ranges)


def test_what_a_get_takes_beyond_its_call_is_two_ways_alike(eager):
    samples = eager[~eager["series"].isin(["wait", "recv", "late"])]
    smallest = samples[(samples["size"] == 1) & (samples["series"] == "rtt")]["value_ns"].median() * 1000
    first = estimate(samples, transport=GET).ranges[0].parameters
    assert pytest.approx((smallest - first.o_s) / 2, rel=0.02) == first.L


def test_samples_of_an_interrupted_run_are_enough_if_some_repetitions_are_whole(rendezvous):
    part = rendezvous[(rendezvous["repetition"] < 7) | ((rendezvous["repetition"] == 7) & (rendezvous["size"] < 30))]
    fit = estimate(part)
    assert fit.S == 12_288
    assert fit.repetitions == 8


def test_settled_sizes_may_be_visited_less_often(rendezvous):
    random = np.random.default_rng(4)
    visited = (
        (rendezvous["size"] % 3 == 0) | (rendezvous["repetition"] % 4 == 0) | (random.random(len(rendezvous)) < 0.2)
    )
    fit = estimate(rendezvous[visited])
    assert [r.first for r in fit.ranges] == [1, 12_289]


def test_disturbed_samples_are_set_aside_and_counted(rendezvous):
    spoilt = rendezvous.assign(disturbed=(rendezvous["repetition"] % 5 == 0).astype(int))
    spoilt.loc[spoilt["disturbed"] > 0, "value_ns"] += 1e6
    fit = estimate(spoilt)
    assert pytest.approx(5.96e6, rel=0.02) == fit.ranges[0].parameters.L
    assert any(
        f"{len(spoilt) // 5} of {len(spoilt)} samples were set aside: a rank lost its core" in n for n in fit.notes
    )


def test_the_figure_marks_every_switch(rendezvous):
    figure = plot_fit(estimate(rendezvous))
    lines = [line for line in figure.axes[0].lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
    assert [float(line.get_xdata()[0]) for line in lines] == [12_288]
    assert any("= 12\u202fKiB" in text.get_text() for text in figure.axes[0].texts)

"""The length of a source is its own: other work in its detours is separated, or said to be inseparable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from competing_tasks import COMPETITORS, Injected, competing_core, random_injected
from idlewave.measure.noise.noise_recording import Detours
from idlewave.measure.noise.periodic_trains import train_at
from idlewave.measure.noise.signature import PERIODIC, RANDOM
from idlewave.measure.noise.signature_fit import checked_sources, fit_signature
from idlewave.measure.noise.source_lengths import source_length
from injected_truth import wrong_sources
from long_cases import most_long
from noise_recordings import detours

US, MS = 10**6, 10**9


def length_at(core, period_ps):
    train = train_at(core, np.ones(len(core.starts), dtype=bool), period_ps)
    return None if train is None else source_length(core, train)


def test_a_competing_tasks_time_is_not_booked_on_an_injected_source():
    core = competing_core("poisson", 0.4, Injected(23.7, 1.7e-3), seed=3)
    found = length_at(core, 1e12 / 23.7)
    held = core.lengths[found.alone]
    assert found.separable
    assert found.length_ps == pytest.approx(1720 * US, rel=0.02)
    assert found.least_ps <= 1720 * US <= found.most_ps
    assert found.mixed > 0.1
    assert held.max() < 2 * MS
    assert found.share > 0.9  # also in the periods whose time the competing task hides


@pytest.mark.parametrize("kind", most_long(COMPETITORS, 2))
def test_no_time_is_lost_or_counted_twice_when_sources_are_separated(kind):
    core = competing_core(kind, 0.3, Injected(37.1, 1e-3), seed=5, seconds=5)
    fitted = fit_signature([core])
    assert fitted.goodness[0].fitted_overhead == pytest.approx(core.overhead, rel=0.03)
    assert len(fitted.checks) == len(fitted.sources) > 0


def test_lengths_that_a_competing_task_may_be_part_of_are_said_to_be_inseparable():
    draw = np.random.default_rng(2)
    starts = (np.arange(200) * 50 * MS + 7 * MS).astype(np.int64)
    lengths = draw.uniform(1, 12, 200) * MS
    others = starts + 25 * MS + (draw.uniform(-10, 10, 200) * MS).astype(np.int64)
    when = np.concatenate([starts, others])
    taken = np.concatenate([lengths, draw.uniform(1, 12, 200) * MS]).astype(np.int64)
    order = np.argsort(when)
    core = Detours("here", 0, when[order], taken[order], 10**13, 0.2)
    found = length_at(core, 50 * MS)
    assert not found.separable
    assert found.least_ps == 0
    assert found.most_ps > 11 * MS
    check = next(check for _, check in checked_sources(core) if not check.separable)
    assert "cannot be separated from a competing task; its detours take up to 1" in check.doubt
    assert any(check.doubt in note for note in fit_signature([core]).notes)


def test_short_detours_that_come_with_longer_ones_are_not_taken_for_the_events():
    """A task of 150 µs, mostly followed by a competing one; where that ran already, only the switches are seen."""
    draw = np.random.default_rng(3)
    events = np.arange(600) * 8.4 * MS + 7 * MS
    turns = draw.uniform(0.5, 2.2, 1200) * MS
    switches = draw.uniform(0.005, 0.035, 600) * MS
    lengths = np.concatenate([np.where(draw.random(600) < 0.3, switches, 0.15 * MS + turns[:600]), turns[600:]])
    starts = np.concatenate([events, events + draw.uniform(3, 5, 600) * MS])
    order = np.argsort(starts)
    core = Detours("here", 0, starts[order].astype(np.int64), lengths[order].astype(np.int64), 5100 * MS, 0.4)
    found = length_at(core, 8.4 * MS)
    assert not found.separable
    assert found.least_ps <= 0.15 * MS <= found.most_ps


def test_turns_as_long_as_the_period_are_no_source():
    ticks = np.arange(0, 2500, 2, dtype=np.int64) * 4 * MS + 100
    core = Detours("here", 0, ticks, np.full(len(ticks), 4 * MS - 1000), 10**13, 0.5)
    assert length_at(core, 4 * MS) is None


def test_without_foreign_load_the_mean_of_all_detours_is_the_length():
    core = replace(detours(4, [(250, 2e-5)], [(100, 1e-6)], seed=1, jitter_s=1e-6), foreign_load=0.0)
    found = length_at(core, 4 * MS)
    assert found.mixed == 0
    assert found.least_ps <= found.length_ps <= found.most_ps
    assert found.length_ps == pytest.approx(20 * US, rel=0.02)


def test_random_sources_are_held_against_the_gaps_that_were_recorded():
    random, burst = detours(5, (), [(400, 1e-5)], seed=4), competing_core("bursts", 0.1, seed=4, seconds=5)
    checks = [check for source, check in checked_sources(random) if source.kind == RANDOM]
    assert [check.doubt for check in checks] == [""]
    doubts = [check.doubt for source, check in checked_sources(burst) if source.kind == RANDOM]
    assert any("gaps are not exponential" in doubt for doubt in doubts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", most_long(range(4), 2))
@pytest.mark.parametrize("with_source", [True, False])
def test_a_source_has_its_period_and_length_and_nothing_else_is_found(seed, with_source):
    draw = np.random.default_rng(seed)
    source = random_injected(draw) if with_source else None
    core = competing_core(COMPETITORS[seed], 0.15 * (seed + 1), source, seed=seed, seconds=5)
    assert wrong_sources(core, source) == []


def test_each_periodic_source_of_a_signature_takes_no_more_than_its_detours():
    core = competing_core("turns", 0.3, Injected(61.3, 5e-4), seed=8)
    (periodic,) = [source for source, _ in checked_sources(core) if source.kind == PERIODIC]
    assert periodic.overhead == pytest.approx(61.3 * 5e-4, rel=0.1)

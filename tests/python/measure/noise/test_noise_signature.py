"""A recording becomes sources that it was made of; they are changed by arithmetic, and become noise again."""

from __future__ import annotations

from dataclasses import replace

import idlewave
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from idlewave.errors import InputError
from idlewave.measure.noise.compare import ks_distance
from idlewave.measure.noise.length_laws import LengthLaw, fit_lengths
from idlewave.measure.noise.periodic_trains import length_clusters
from idlewave.measure.noise.replay import write_noise
from idlewave.measure.noise.signature import PERIODIC, RANDOM, Signature, Source, end_to_end, queued
from idlewave.measure.noise.signature_fit import core_sources, fit_signature
from long_cases import most_long
from noise_recordings import detours

pytestmark = pytest.mark.slow

US, MS = 10**6, 10**9


@pytest.mark.parametrize("seed", most_long(range(5), 1))
def test_the_sources_of_a_recording_are_found(seed):
    core = detours(5, [(250, 5e-6), (9.7, 3e-4)], [(80, 2e-5)], seed=seed, jitter_s=2e-7)
    sources = core_sources(core)
    periodic = sorted((s for s in sources if s.kind == PERIODIC), key=lambda s: s.period_ps)
    assert [s.period_ps for s in periodic] == pytest.approx([4 * MS, 1e12 / 9.7], rel=1e-3)
    assert periodic[0].length.mean == pytest.approx(5 * US, rel=0.05)
    assert periodic[1].length.mean == pytest.approx(300 * US, rel=0.05)
    assert periodic[0].jitter_ps == pytest.approx(2e5, rel=0.5)
    assert all(s.share > 0.95 for s in periodic)
    rest = [s for s in sources if s.kind == RANDOM]
    rate = sum(s.rate_per_s for s in rest)
    assert abs(rate - 80) < 4 * np.sqrt(80 / 5)  # four standard deviations of a Poisson count
    assert sum(s.overhead for s in rest) == pytest.approx(80 * 2e-5, rel=0.25)


def test_a_source_that_comes_in_half_of_its_periods_is_found_with_its_share():
    core = detours(4, [(500, 4e-6)])
    keep = np.random.default_rng(1).random(len(core.starts)) < 0.5
    source = core_sources(replace(core, starts=core.starts[keep], lengths=core.lengths[keep]))[0]
    assert source.kind == PERIODIC
    assert source.period_ps == pytest.approx(2 * MS, rel=1e-4)
    assert source.share == pytest.approx(0.5, abs=0.05)


def test_the_source_that_takes_the_most_time_comes_first_though_another_is_found_before_it():
    sources = core_sources(detours(5, [(250, 1e-6), (9.7, 3e-4)]))
    assert [s.period_ps for s in sources] == pytest.approx([1e12 / 9.7, 4 * MS], rel=1e-3)
    assert sources[0].overhead > sources[1].overhead
    assert core_sources(detours(5, [(250, 2e-5), (9.7, 3e-4)]))[0].period_ps == pytest.approx(4 * MS)


@pytest.mark.parametrize("seed", most_long(range(10), 4))
def test_random_detours_are_not_called_periodic(seed):
    core = detours(2, (), [(500, 1e-5), (20, 1e-3)], seed=seed)
    assert {s.kind for s in core_sources(core)} == {RANDOM}


@pytest.mark.long
def test_a_good_fit_says_so_and_a_bad_one_is_said():
    good = fit_signature([detours(5, [(250, 5e-6)], [(200, 2e-5)])])
    assert good.notes == ()
    assert good.goodness[0].fitted_overhead == pytest.approx(good.goodness[0].overhead, rel=0.1)
    core = detours(5)
    starts = np.arange(5, dtype=np.int64)[:, None] * 10**12 + 1 + np.arange(2000)[None, :] * 20 * US
    burst = replace(core, starts=starts.ravel(), lengths=np.full(10_000, 10 * US))
    bad = fit_signature([burst])
    assert "fit is bad" in bad.notes[0]
    assert bad.goodness[0].bad


@pytest.mark.parametrize(
    ("law", "rel"),
    [
        (LengthLaw("fixed", (5e6,)), 1e-6),
        (LengthLaw("exponential", (1e6, 9e6)), 0.1),
        (LengthLaw("lognormal", (5e6, 0.7)), 0.1),
        (LengthLaw("pareto", (1e6, 2.5)), 0.1),
    ],
)
def test_lengths_get_the_law_that_they_were_drawn_from(law, rel):
    drawn = law.quantile(np.random.default_rng(3).random(5000)).astype(np.int64)
    found = fit_lengths(drawn)
    assert found.kind == law.kind
    assert found.numbers == pytest.approx(law.numbers, rel=rel)


def test_lengths_that_no_law_fits_keep_their_quantiles_and_their_mean():
    draw = np.random.default_rng(1)
    lengths = np.concatenate([draw.integers(1000, 2000, 500), draw.integers(10**6, 2 * 10**6, 500)])
    found = fit_lengths(lengths)
    assert found.kind == "empirical"
    assert found.mean == pytest.approx(lengths.mean())
    assert found.distance(lengths) < 0.05


@pytest.mark.parametrize(
    "law",
    [
        LengthLaw("fixed", (7.0,)),
        LengthLaw("exponential", (3.0, 4.0)),
        LengthLaw("lognormal", (5.0, 0.5)),
        LengthLaw("pareto", (2.0, 3.0)),
        LengthLaw("empirical", (1.0, 2.0, 10.0)),
    ],
)
def test_a_laws_mean_is_that_of_its_quantiles_and_scales(law):
    u = (np.arange(400_000) + 0.5) / 400_000
    assert law.quantile(u).mean() == pytest.approx(law.mean, rel=2e-3)
    assert law.scaled(3).mean == pytest.approx(3 * law.mean)
    np.testing.assert_allclose(law.scaled(3).quantile(u), 3 * law.quantile(u), rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "numbers"), [("gamma", (1.0,)), ("fixed", (1.0, 2.0)), ("fixed", (-1.0,)), ("pareto", ())]
)
def test_laws_that_cannot_be_are_refused(kind, numbers):
    with pytest.raises(InputError, match="length: expected"):
        LengthLaw(kind, numbers)


def test_lengths_are_divided_where_few_lie():
    draw = np.random.default_rng(1)
    lengths = np.concatenate([draw.lognormal(np.log(1e6), 0.2, 500), draw.lognormal(np.log(1e8), 0.2, 100)]).astype(
        np.int64
    )
    clusters = length_clusters(lengths)
    assert len(clusters) == 2
    assert clusters[0][1] < 10**7 < clusters[1][0]
    assert length_clusters(np.array([], dtype=np.int64)) == []
    assert length_clusters(np.array([5, 5, 5])) == [(5, 5)]


TICK = Source("tick", 0, PERIODIC, 4e9, LengthLaw("fixed", (5e6,)), 1e6)
RARE = Source("rare", 0, RANDOM, 1e10, LengthLaw("exponential", (0.0, 1e8)))
MADE = Signature("test", (0, 1), (TICK, RARE, replace(TICK, core=1)))


def test_overhead_is_rate_times_length_over_the_cores():
    assert TICK.overhead == pytest.approx(250 * 5e-6)
    assert MADE.overhead == pytest.approx((2 * 250 * 5e-6 + 100 * 1e-4) / 2)


def test_thinning_and_scaling_are_arithmetic():
    assert MADE.thin(0.3).overhead == pytest.approx(0.3 * MADE.overhead)
    assert MADE.thin(0).sources == ()
    assert MADE.scale(lengths=2).overhead == pytest.approx(2 * MADE.overhead)
    assert MADE.scale(rates=3).overhead == pytest.approx(3 * MADE.overhead)
    assert MADE.scale(lengths=2, rates=0.5).overhead == pytest.approx(MADE.overhead)
    assert MADE.thin(0.5).sources[0].period_ps == TICK.period_ps
    for wrong in (-0.1, 1.1):
        with pytest.raises(InputError, match="thin: expected a part from 0 to 1"):
            MADE.thin(wrong)
    with pytest.raises(InputError, match="scale: expected factors above 0"):
        MADE.scale(rates=0)


def test_sources_are_moved_and_dropped_by_name_on_all_cores():
    moved = MADE.move("tick", 1e9)
    assert [s.period_ps for s in moved.sources] == [1e9, 1e10, 1e9]
    assert [s.name for s in MADE.drop("tick").sources] == ["rare"]
    with pytest.raises(InputError, match="no source is called 'tock'; there are rare, tick"):
        MADE.drop("tock")


@pytest.mark.parametrize(
    ("name", "near", "other"),
    [
        ("random 12us", "random 13us", "random 16us"),
        ("every 4ms", "every 4.01ms", "every 4.1ms"),
        ("every 4ms", "every 3.99ms", "random 4ms"),
        ("every 4ms (2)", "every 4.01ms (2)", "every 4ms (3)"),
        ("tick 4ms", "tick 4ms", "tick 4.01ms"),
    ],
)
def test_a_source_is_the_same_on_cores_whose_fits_name_it_a_little_differently(name, near, other):
    names = [(0, name), (1, near), (2, other), (0, near)] if name != near else [(0, name), (1, near), (2, other)]
    made = Signature("test", (0, 1, 2), tuple(replace(TICK, name=text, core=core) for core, text in names))
    assert [(s.core, s.name) for s in made.called(name)] == [(0, name), (1, near)]
    assert [(s.core, s.name) for s in made.drop(name).sources] == [entry for entry in names if entry not in names[:2]]
    assert [s.period_ps for s in made.move(name, 1e9).sources] == [1e9, 1e9, *[TICK.period_ps] * (len(names) - 2)]


def test_a_realisation_has_the_overhead_and_the_lengths_of_its_sources():
    made = Signature("test", (0,), (TICK, replace(RARE, length=LengthLaw("lognormal", (2e7, 0.5))))).detours(
        50, seed=3
    )[0]
    assert made.overhead == pytest.approx(250 * 5e-6 + 100 * 2e-5 * np.exp(0.125), rel=0.05)
    assert len(made.starts) == pytest.approx(350 * 50, rel=0.05)


@pytest.mark.parametrize("period_s", [1.9, 0.7, 10])
def test_a_source_comes_as_often_as_its_period_says_on_average_though_that_is_long(period_s):
    source = Source("rare", 0, PERIODIC, period_s * 1e12, LengthLaw("fixed", (5e6,)))
    counts = [len(source.arrivals(10**12, np.random.default_rng(seed))) for seed in range(4000)]
    assert set(counts) <= {int(1 / period_s), int(1 / period_s) + 1}
    assert np.mean(counts) == pytest.approx(1 / period_s, abs=4 * 0.5 / np.sqrt(4000))  # four standard deviations


def test_a_thinned_tick_stays_on_its_grid():
    quiet = Signature("test", (0,), (replace(TICK, jitter_ps=0.0),)).thin(0.5)
    starts = quiet.detours(2, seed=1)[0].starts
    phases = (starts - starts[0]) % 4 * MS
    assert len(starts) == pytest.approx(250, abs=50)
    assert np.ptp(np.round((starts - starts[0]) / 4e9) * 4e9 - (starts - starts[0])) < 2
    assert len(phases) == len(starts)


def test_the_same_seed_gives_the_same_noise():
    one, again, other = (MADE.realise(1, seed) for seed in (1, 1, 2))
    assert one.starts.tolist() == again.starts.tolist()
    assert one.starts.tolist() != other.starts.tolist()


def test_what_overlaps_queues_up_and_its_work_adds():
    starts, lengths = queued(np.array([10.0, 20.0, 100.0, 190.0]), np.array([30.0, 30.0, 5.0, 30.0]), 200)
    assert starts.tolist() == [0, 100, 190]
    assert lengths.tolist() == [80, 5, 10]


def test_what_goes_on_beyond_the_end_begins_at_the_start():
    starts, lengths = queued(np.array([150.0]), np.array([70.0]), 200)
    assert starts.tolist() == [0, 150]
    assert lengths.tolist() == [20, 50]


def test_sources_that_leave_no_time_are_refused():
    busy = Signature("test", (0,), (replace(TICK, length=LengthLaw("fixed", (5e9,))),))
    with pytest.raises(InputError, match="leave no time"):
        busy.detours(1, seed=1)
    with pytest.raises(InputError, match="at most 20000000"):
        Signature("test", (0,), (replace(TICK, period_ps=1000.0),)).detours(1, seed=1)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 0.0, -1.0, 5e6])
def test_a_time_that_cannot_be_drawn_is_refused(seconds):
    quiet = Signature("test", (0, 1), ())
    for made in (quiet, MADE):
        with pytest.raises(InputError, match=r"s of each core: expected more than 0, and .* less than 106 days"):
            made.detours(seconds, seed=1)


laws = st.one_of(
    st.builds(lambda x: LengthLaw("fixed", (x,)), st.floats(1, 1e8)),
    st.builds(lambda a, b: LengthLaw("exponential", (a, b)), st.floats(0, 1e7), st.floats(1, 1e8)),
    st.builds(lambda a, b: LengthLaw("lognormal", (a, b)), st.floats(1, 1e7), st.floats(0.01, 1.5)),
    st.builds(lambda a, b: LengthLaw("pareto", (a, b)), st.floats(1, 1e7), st.floats(1.3, 5)),
)
some_sources = st.builds(
    Source,
    st.sampled_from(["a", "b"]),
    st.sampled_from([0, 1]),
    st.sampled_from([PERIODIC, RANDOM]),
    st.floats(2e8, 1e11),
    laws,
    st.floats(0, 1e10),
    st.floats(0, 1),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(some_sources, max_size=5), st.integers(0, 2**31), st.floats(0.01, 0.3))
def test_any_realisation_is_separate_sorted_and_inside_and_a_machine_takes_it(sources, seed, seconds):
    made = Signature("test", (0, 1), tuple(sources))
    try:
        cores = made.detours(seconds, seed)
    except InputError:  # they leave the core no time: refused
        return
    for core in cores:
        assert (core.starts >= 0).all()
        assert (core.lengths > 0).all()
        assert (core.starts[1:] > core.starts[:-1] + core.lengths[:-1]).all()
        if len(core.starts):
            assert core.starts[-1] + core.lengths[-1] <= core.duration
    noise = end_to_end(cores)
    assert noise.period == 2 * round(seconds * 1e12)
    idlewave.Machine.preset("odin").with_noise(noise).core()


def test_a_signature_survives_its_file(tmp_path):
    fitted = fit_signature([detours(3, [(250, 5e-6)], [(100, 2e-5), (5, 1e-3)])], name='a "name" \U0001f300')
    file = tmp_path / "noise-signature.toml"
    file.write_text(fitted.to_toml(), encoding="utf-8")
    assert Signature.load(file) == fitted
    assert Signature.from_toml(MADE.to_toml()) == MADE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "not TOML"),
        ("format = 7", "format: expected 1, found 7"),
        ("format = 1", "x.toml: name: expected a text, found nothing"),
        (MADE.to_toml().replace("random", "strange"), "kind: expected periodic or random"),
        (MADE.to_toml().replace('"fixed"', '"gamma"'), r"source\[0\].length.kind: expected one of fixed"),
        (
            MADE.to_toml().replace("cores = [0, 1]", "cores = [0]"),
            r"source\[2\].core: expected cores of \[0\], found 1",
        ),
        (
            MADE.to_toml().replace("cores = [0, 1]", "cores = [-1]"),
            r"cores\[0\]: expected a whole number from 0 on, found -1",
        ),
        (
            MADE.to_toml().replace("cores = [0, 1]", "cores = [0.5]"),
            r"cores\[0\]: expected a whole number from 0 on, found 0.5",
        ),
        (
            MADE.to_toml().replace("core = 0", 'core = "a"'),
            r"source\[0\].core: expected a whole number from 0 on, found 'a'",
        ),
        (MADE.to_toml().replace('name = "rare"', "name = 7"), r"source\[1\].name: expected a text, found 7"),
    ],
)
def test_a_broken_signature_is_refused_with_the_place(text, words):
    with pytest.raises(InputError, match=words):
        Signature.from_toml(text, "x.toml")


def test_cores_of_several_nodes_get_numbers_of_their_own():
    cores = [detours(1, [(250, 5e-6)], node=f"n{node}") for node in range(3)]
    assert fit_signature(cores).cores == (0, 1, 2)


def test_noise_is_written_as_a_machines_and_read_back(tmp_path):
    noise = MADE.realise(0.5, seed=1)
    file = write_noise(tmp_path, noise, idlewave.Machine.preset("odin"))
    machine = idlewave.Machine.load(file)
    assert machine.noise.starts.tolist() == noise.starts.tolist()
    assert machine.noise.lengths.tolist() == noise.lengths.tolist()
    assert machine.noise.period == noise.period
    assert machine.network == idlewave.Machine.preset("odin").network
    assert write_noise(tmp_path / "alone", noise).name == "noise.toml"


def test_what_is_random_stays_a_law_for_the_simulator(tmp_path):
    noise = MADE.noise(0.5, seed=1)
    random = [source for source in MADE.sources if source.kind == RANDOM]
    assert noise.overhead == pytest.approx(MADE.overhead, rel=0.02)
    assert [source.length for source in noise.random] == [source.length.for_simulator() for source in random]
    written = idlewave.Machine.load(write_noise(tmp_path, noise, idlewave.Machine.preset("odin"))).noise
    assert written.trace.starts.tolist() == noise.trace.starts.tolist()
    assert [source.interval for source in written.random] == pytest.approx([s.interval for s in noise.random])
    assert written.overhead == pytest.approx(noise.overhead)


@pytest.mark.parametrize(
    "law",
    [
        LengthLaw("fixed", (5e6,)),
        LengthLaw("exponential", (2e6, 3e6)),
        LengthLaw("lognormal", (4e6, 0.5)),
        LengthLaw("pareto", (2e6, 3.5)),
        LengthLaw("empirical", (1e6, 2e6, 9e6)),
    ],
    ids=lambda law: law.kind,
)
def test_the_simulator_draws_the_lengths_of_the_law(law, tmp_path):
    drawn = Signature("x", (0,), (Source("some", 0, RANDOM, 1e9, law),)).noise(0.1, seed=1)
    file = write_noise(tmp_path, drawn, idlewave.Machine.preset("odin"))
    (source,) = idlewave.Machine.load(file).noise.random
    _, lengths = source.detours(seed=1, rank=3, until=20 * 10**12)
    assert len(lengths) == pytest.approx(20_000, rel=0.04)
    assert ks_distance(lengths, np.round(law.quantile((np.arange(20_000) + 0.5) / 20_000)).astype(np.int64)) < 0.015
    assert drawn.overhead == pytest.approx(law.mean / 1e9, rel=0.01)


def test_a_realised_fit_looks_like_what_was_recorded():
    recorded = detours(10, [(250, 5e-6)], [(300, 1e-5), (3, 2e-3)], jitter_s=1e-6)
    fitted = fit_signature([recorded])
    made = fitted.detours(10, seed=9)[0]
    assert fitted.overhead == pytest.approx(recorded.overhead, rel=0.05)
    assert ks_distance(made.lengths, recorded.lengths, tolerance=0.02) < 0.05


def _random(overhead, kind="fixed", numbers=(1e6,)):
    return Signature("busy", (0,), (Source("all", 0, RANDOM, numbers[0] / overhead, LengthLaw(kind, numbers)),))


@pytest.mark.parametrize("overhead", [1.0, 3.0])
def test_sources_that_leave_no_time_are_no_noise(overhead):
    with pytest.raises(InputError, match=r"leave no time: \d+% of it is taken"):
        _random(overhead).noise(0.1, seed=1)


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_lengths_without_a_mean_are_no_noise(alpha):
    with pytest.raises(InputError, match="leave no time: an infinite part of it is taken"):
        _random(0.01, "pareto", (1e6, alpha)).noise(0.1, seed=1)


def test_a_pareto_law_needs_an_alpha_above_0():
    with pytest.raises(InputError, match="alpha of pareto above 0"):
        LengthLaw("pareto", (1e6, 0.0))


@pytest.mark.parametrize("preset", [None, "odin"])
def test_noise_that_the_simulator_refuses_is_not_written_without_an_error(tmp_path, preset):
    machine = idlewave.Machine.preset(preset) if preset else None
    backwards = idlewave.PoissonNoise(-1e9, idlewave.FixedLength(1000))
    quiet = idlewave.Noise(np.array([0]), np.array([10]), 10**9)
    with pytest.raises(InputError, match="interval"):
        write_noise(tmp_path, idlewave.MixedNoise(quiet, (backwards,)), machine)
    overlapping = idlewave.Noise(np.array([0, 5]), np.array([10, 10]), 10**9)
    with pytest.raises(InputError):
        write_noise(tmp_path, overlapping, machine)

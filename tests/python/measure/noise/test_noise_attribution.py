"""A detour's cause is what the kernel did meanwhile, and what nothing explains is said."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from idlewave.measure.noise.attribution import (
    NOT_EXPLAINED,
    attribute,
    causes_by_counts,
    causes_by_events,
    counted_sources,
    event_name,
)
from idlewave.measure.noise.noise_recording import CoreRecording, NoiseRecording
from noise_recordings import events, summary

US = 10**6


def core(rows, happened, cpu=0, **counts):
    table = pd.DataFrame(rows, columns=["start_ps", "length_ps"]).assign(**counts)
    return CoreRecording(cpu, table, summary(cpu, 1.0), happened)


HAPPENED = events(
    [
        (1000, 4000, "vector", "local_timer"),
        (3000, 3900, "softirq", "TIMER"),
        (100_000, 400_000, "task", "kworker/0:1-events"),
        (150_000, 152_000, "vector", "local_timer"),
        (900_000, 902_000, "irq", "virtio1-req.0"),
        (902_000, 910_000, "softirq", "BLOCK"),
    ]
)


def test_interrupt_and_softirq_are_one_chain_and_a_task_is_named_whatever_interrupts_it():
    rows = [[US, 3 * US], [100 * US, 300 * US], [500 * US, US], [900 * US, 10 * US]]
    assert causes_by_events(core(rows, HAPPENED)) == [
        "local_timer + softirq TIMER",
        "task kworker",
        NOT_EXPLAINED,
        "virtio1-req.0 + softirq BLOCK",
    ]


def test_an_event_that_ends_shortly_before_its_detour_is_its_cause():
    assert causes_by_events(core([[912 * US - US // 2, US]], HAPPENED))[0] == NOT_EXPLAINED
    assert causes_by_events(core([[910 * US + US // 2, US]], HAPPENED))[0] == "softirq BLOCK"


def test_a_task_that_ran_for_a_moment_of_a_long_detour_is_not_its_cause():
    happened = events([(0, 100_000, "irq", "disk"), (100_000, 101_000, "task", "bash")])
    assert causes_by_events(core([[0, 101 * US]], happened)) == ["disk"]


def test_a_task_that_was_itself_interrupted_for_most_of_its_time_is_not_the_cause():
    irq = (5_000, 95_000, "irq", "disk")
    assert causes_by_events(core([[0, 101 * US]], events([(0, 100_000, "task", "bash"), irq]))) == ["task bash"]
    assert causes_by_events(core([[0, 101 * US]], events([(0, 100_000, "task", "bash", 10_000), irq]))) == ["disk"]


def test_long_events_that_began_long_before_are_found():
    happened = events([(0, 1_000_000, "task", "daemon"), (10, 20, "irq", "disk"), (30, 40, "irq", "disk")])
    assert causes_by_events(core([[900 * US, 50 * US]], happened)) == ["task daemon"]


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("vector", "local_timer", "local_timer"),
        ("softirq", "RCU", "softirq RCU"),
        ("task", "kworker/1:2H-kblockd", "task kworker"),
        ("nmi", "nmi", "nmi"),
        ("task", "pytest:26684", "task pytest"),
        ("task", "", "task ?"),
    ],
)
def test_events_are_named_alike_on_all_cores(kind, name, said):
    assert event_name(kind, name) == said


def recording(*cores):
    return NoiseRecording("detour", Path(), {}, cores)


def test_the_table_sums_up_and_the_costliest_cause_is_first():
    rows = [[US, 3 * US], [100 * US, 300 * US], [500 * US, US]]
    table = attribute(recording(core(rows, HAPPENED), core([[900 * US, 10 * US]], HAPPENED, cpu=1)))
    assert table["cause"].tolist()[0] == "task kworker"
    assert table["total_ps"].sum() == 314 * US
    assert table["share"].sum() == pytest.approx(1)
    assert table.set_index("cause").loc["virtio1-req.0 + softirq BLOCK", "median_ps"] == 10 * US


def test_counts_tell_where_there_are_no_events():
    rows = [[0, 1], [10, 1], [20, 1], [30, 1]]
    told = causes_by_counts(core(rows, None, switches=[1, 0, 0, 1], migrations=[0, 0, 0, 0], faults=[0, 2, 0, 1]))
    assert told[:2] == ["another task (context switch)", "page fault"]
    assert told[2].startswith("neither task nor fault")
    assert told[3] == "another task (context switch)"


def test_a_recording_that_tells_nothing_has_no_causes():
    assert attribute(recording(core([[0, 1]], None))).empty
    with pytest.raises(ValueError, match="no events"):
        causes_by_events(core([[0, 1]], None))


def test_totals_say_how_many_detours_a_source_could_be_at_most():
    said = summary(3, 2.0, involuntary_switches=10, steal_s=0.25)
    said["interrupts"] = {"LOC": {"count": 500, "meaning": "Local timer interrupts"}}
    table = counted_sources([said], {3: 2000}).set_index("source")
    assert table.loc["LOC", "rate_per_s"] == 250
    assert table.loc["LOC", "most"] == 0.25
    assert table.loc["switches", "most"] == 0.005
    assert table.loc["steal", "steal_s"] == 0.25

"""The sentences and caveats of a report say what the numbers say, also where there is little to say."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pandas as pd
import pytest
from idlewave import Machine, Trace
from idlewave.formatting import (
    count_text,
    fixed_seconds_texts,
    percent_range,
    percent_text,
    percent_tick,
    si_text,
    size_text,
    time_text,
)
from idlewave.measure import NoiseMeasurement
from idlewave.report import Report, findings
from idlewave.report.captions import time_caption
from idlewave.report.caveats import caveats, load_text, program_text
from idlewave.report.findings import (
    communication_share,
    comparable_with_simulation,
    machine_sentence,
    prediction_clause,
    program_sentence,
    scale_sentence,
)
from idlewave.trace import CORE_WAIT, ImportedSchema
from report_samples import fit, machine, measurement, no_noise, noise_of, prediction, quiet_trace, sample, study, trace
from trace_files import write_threads


def plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u2212", "-")


def fixed_noise() -> NoiseMeasurement:
    """One core, 1 s: a thousand detours of 2 µs, one of 6 ms."""
    detours = pd.DataFrame({"core": 0, "start_ps": range(1001), "length_ps": [2 * 10**6] * 1000 + [6 * 10**9]})
    return noise_of(detours, 1, 1.0)


def without_noise_or_with(noise: bool) -> pd.DataFrame:
    """Of the study the runs with noise alone, or those without."""
    runs = study()
    return runs[runs["noise"] == noise]


CASES = {
    "all": sample(),
    "nothing": Report(),
    "no noise": Report(measurement=measurement(no_noise())),
    "one core": Report(measurement=measurement(fixed_noise())),
    "no messages": Report(trace=quiet_trace(), prediction=prediction(error=0.0)),
    "far off": Report(trace=trace(), prediction=prediction(error=-0.8)),
    "far over": Report(trace=trace(), prediction=prediction(error=4.2)),
    "no measured time": Report(trace=trace(measured_s=0.0), prediction=prediction()),
    "one seed": Report(study=study(seeds=1)),
    "one scale": Report(study=study({4: (0.01, 0.001)})),
    "no slowdown": Report(study=study({4: (0.0, 0.0), 64: (0.0, 0.0)})),
    "huge slowdown": Report(study=study({4: (0.1, 0.01), 16384: (31.0, 2.0)})),
    "faster": Report(study=study({4: (-0.01, 0.001), 64: (-0.02, 0.001)})),
    "no runs": Report(study=study().iloc[:0]),
    "only noisy runs": Report(study=without_noise_or_with(True)),
    "only quiet runs": Report(study=without_noise_or_with(False)),
    "many scales": Report(study=study({4**k: (0.01 * k, 0.001) for k in range(1, 9)})),
    "one sample a size": Report(measurement=measurement(found=fit(repetitions=1))),
}


@pytest.mark.parametrize("name", CASES)
def test_every_sentence_is_one_sentence_without_gaps_or_raw_numbers(name: str):
    data = CASES[name]
    sentences = list(findings(data).values())
    for text in sentences:
        assert re.fullmatch(r"[A-Z].*\.", text, re.DOTALL)
        assert not re.search(r"\.\s+[A-Z]", text), "two sentences"
    for text in [*sentences, *(caveat.text for caveat in caveats(data))]:
        assert not re.search(r"nan|None|inf\b|  |\( ?\)|,,|;;|\.\.|\d\.\d{4}|e[+-]\d\d|\b1 \w+s\b(?! on)", plain(text))


def test_three_sentences_are_said_when_all_was_measured():
    assert list(findings(sample())) == ["machine", "program", "scale"]


def test_the_machine_sentence_names_overhead_dominating_magnitude_longest_detour_and_parameters():
    assert plain(machine_sentence(fixed_noise(), machine())) == (
        "Noise takes 0.80 % of the time of the measured core, 75 % of it in detours of 1–10 ms, the longest "
        "lasting 6 ms; a small message costs L = 95 ns of latency, o_s = 72 ns to send and o_r = 186 ns to "
        "receive, at least g = 130 ns apart, and each further byte G = 80 ps (12.5 GB/s)."
    )


def test_no_noise_is_said_with_the_length_of_the_recording():
    text = plain(machine_sentence(no_noise(), machine()))
    assert text.startswith("No noise was seen on the measured core in 4 s of recording; ")


def test_bytes_that_cost_nothing_have_no_infinite_bandwidth():
    assert "further bytes cost nothing that could be measured" in machine_sentence(no_noise(), without("G"))


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("L", "a small message costs no measurable latency L, o_s = 72 ns to send"),
        ("o_s", "no measurable o_s to send and o_r = 186 ns to receive"),
        ("o_r", "o_s = 72 ns to send and no measurable o_r to receive"),
        ("g", "o_r = 186 ns to receive, and each further byte"),
    ],
)
def test_a_parameter_that_is_0_is_not_said_to_be_a_time(parameter: str, said: str) -> None:
    """Send and receive may overlap the way so far that L cannot be distinguished from 0."""
    text = plain(machine_sentence(no_noise(), without(parameter)))
    assert said in text
    assert "0 s" not in text


def without(parameter: str) -> Machine:
    """The measured machine with a parameter of 0."""
    level = machine().network
    return replace(machine(), network=replace(level, parameters=replace(level.parameters, **{parameter: 0.0})))


def test_the_program_sentence_names_share_dominating_call_and_prediction():
    text = plain(program_sentence(trace(), prediction(error=-0.012)))
    assert text.startswith("On 4 ranks the program ran for 1.52 s and spent 28 % of its ranks’ time in MPI, 49 %")
    assert "in MPI_Waitall" in text
    assert text.endswith("the simulation predicts 1.5 s, 1.2 % less than the measured 1.52 s.")


def test_a_single_busiest_pair_is_named():
    table = trace().communication()
    table.loc[2, "bytes"] = 10**9
    text = plain(program_sentence(trace(communication=table)))
    assert "the most (1 GB) from rank 1 to rank 0" in text or "the most (1 GB) from rank 1 to rank 2" in text


def test_a_program_without_messages_is_said_to_have_none():
    text = plain(program_sentence(quiet_trace(measured_s=1.0)))
    assert text == (
        "On 4 ranks the program ran for 1 s and spent no measurable time in MPI; no point-to-point messages were sent."
    )


@pytest.mark.parametrize(("error", "words"), [(-0.8, "80 % less"), (4.2, "420 % more")])
def test_a_prediction_that_is_far_off_is_called_so(error: float, words: str):
    text = plain(prediction_clause(1.52, 1.52 * (1 + error)))
    assert words in text
    assert text.endswith("too far off to trust predicted run times")


def test_a_good_prediction_is_not_praised_or_warned_about():
    text = prediction_clause(1.0, 1.01)
    assert "trust" not in text
    assert "margin" not in text


def test_growth_is_claimed_when_the_ranges_do_not_overlap():
    text = plain(scale_sentence(study({4: (0.003, 0.0005), 64: (0.01, 0.001), 1024: (0.05, 0.002)})))
    assert re.search(r"on 4 ranks, .* on 64 and [45]\.\d % \(.*\) on 1,024 \(median and range over 16 seeds\)", text)
    assert text.endswith("; it grows with scale.")


def test_growth_is_not_claimed_within_the_spread_over_seeds():
    text = scale_sentence(study({4: (0.020, 0.01), 1024: (0.024, 0.01)}))
    assert "grows" not in text
    assert text.endswith("between 4 and 1,024 it changes by no more than the seeds do.")


def test_a_slowdown_that_shrinks_is_said_to():
    assert scale_sentence(study({4: (0.05, 0.001), 64: (0.02, 0.001)})).endswith("smaller with scale.")


def test_a_program_that_takes_no_time_has_no_slowdown():
    """Not "no scale was simulated both ways": both were."""
    rows = [(2, False, 0, 0, 0, 0.1), (2, True, 0, 500, 0, 0.1)]
    table = pd.DataFrame(rows, columns=["ranks", "noise", "seed", "finish_ps", "messages", "seconds"])
    expected = "Slowdown by noise is not known: the program takes no time without noise."
    assert scale_sentence(table) == expected


def test_noise_that_makes_a_run_shorter_is_not_said_to_slow_it():
    text = plain(scale_sentence(study({4: (-0.01, 0.001), 64: (-0.02, 0.001)})))
    assert text.startswith("Noise changes the run time by -1.0 %")


def test_growth_with_a_dip_is_said_to_have_one():
    text = scale_sentence(study({4: (0.01, 0.001), 64: (0.06, 0.001), 1024: (0.04, 0.001)}))
    assert text.endswith("it grows with scale, though not at every step.")


def test_a_slowdown_of_nothing_is_called_negligible():
    text = plain(scale_sentence(study({4: (0.0, 0.0), 64: (0.0002, 0.0001)})))
    assert text == (
        "Noise slows the program by less than 0.10 % at every scale from 4 to 64 ranks "
        "(over 16 seeds), which is negligible."
    )


def test_one_seed_is_said_to_have_no_known_spread_and_claims_no_growth():
    text = scale_sentence(study(seeds=1))
    assert "with one seed, so that its spread is not known" in text
    assert "grows" not in text


def test_without_a_baseline_no_slowdown_is_claimed():
    assert "not known" in scale_sentence(without_noise_or_with(True))


def test_of_many_scales_the_ends_are_named():
    text = plain(scale_sentence(study({4**k: (0.01 * k, 0.001) for k in range(1, 9)})))
    assert " on 4 ranks" in text
    assert " on 65,536" in text
    assert " on 256" not in text


def test_caveats_name_sample_sizes_worst_residual_and_what_extrapolation_assumes():
    texts = {caveat.topic: plain(caveat.text) for caveat in caveats(sample())}
    assert "12 for each quantity and size" in texts["Network samples"]
    assert re.search(r"by [\d.]+ % at worst \(\w[\w ]+, [\d,]+ (B|KiB)\)", texts["Fit"])
    assert "point-to-point partners" in texts["Extrapolation"]
    assert "computation is copied verbatim" in texts["Extrapolation"]
    assert "such as interrupts, is part of it" in texts["Computation"]
    assert "little enough" in texts["Other load"]


def test_ranks_that_shared_cores_are_said_to_have():
    def cores(waited_s: float) -> pd.DataFrame:
        return pd.DataFrame({"rank": range(4), "shared": True, "core_wait_s": waited_s, "core_wait_in_calls_s": 0.0})

    def hosts(cores: int, foreign: float = 0.25) -> pd.DataFrame:
        return pd.DataFrame(
            {"host": ["n1"], "ranks": [4], "usable_cores": [cores], "host_cores": [8], "foreign_cores": [foreign]}
        )

    assert "Its 4 ranks shared 2 cores of n1" in program_text(trace(hosts=hosts(2)))
    assert "Meanwhile, other processes kept 0.25 of the 8 cores of n1 busy on average." in program_text(
        trace(hosts=hosts(2))
    )
    assert "shared" not in program_text(trace(hosts=hosts(4, math.nan)))
    assert "Meanwhile" not in program_text(trace(hosts=hosts(4, math.nan)))
    assert "shared" not in program_text(trace()), "of a run elsewhere nobody knows it"
    assert "is not known" in program_text(trace(core_shares=cores(math.nan)))
    assert "In 2 s of all ranks’ time" in plain(program_text(trace(core_shares=cores(0.5))))


def test_waits_for_a_core_are_neither_computation_nor_communication():
    time = pd.DataFrame(
        {"rank": 0, "category": ["computation", CORE_WAIT, "collective"], "seconds": [1.0, 2.0, 1.0]},
    )
    assert communication_share(time) == 0.25
    assert f"{CORE_WAIT} is time outside MPI in which something else had the core" in time_caption(time)
    assert CORE_WAIT not in time_caption(time[time["category"] != CORE_WAIT])


def test_what_an_import_left_out_is_said():
    imported = trace()
    imported.imported = ImportedSchema(format="liballprof", left_out={"calls of MPI_Gatherv": 4})
    assert "imported from liballprof; not in it are 4 calls of MPI_Gatherv." in plain(program_text(imported))
    assert "imported" not in program_text(trace())


def test_no_slowdown_is_stated_where_its_baseline_is_not_to_be_trusted():
    far_off = findings(Report(trace=trace(), prediction=prediction(error=4.2), study=study()))["scale"]
    assert plain(far_off) == (
        "What noise costs this program is not known: the simulation of the traced run itself is off by 420 %."
    )
    shared = pd.DataFrame({"rank": range(4), "shared": True, "core_wait_s": math.nan, "core_wait_in_calls_s": math.nan})
    report = Report(trace=trace(core_shares=shared), prediction=prediction(), study=study())
    assert "4 ranks shared cores in the traced run" in findings(report)["scale"]
    waits = shared.assign(core_wait_s=0.5, core_wait_in_calls_s=0.1)
    known = Report(trace=trace(core_shares=waits), prediction=prediction(error=-0.5), study=study())
    assert "slows the program by" in findings(known)["scale"]
    assert "in which each rank has a core of its own, predicts 760 ms" in plain(findings(known)["program"])
    assert "ranks waited for a core for 39 % of their time" in plain(findings(known)["program"])


def test_waits_of_threads_that_are_few_for_so_many_leave_a_run_comparable(tmp_path):
    def comparable(wait_ns: int) -> bool:
        folder = write_threads(tmp_path / str(wait_ns), threads=3, steps=40, step_ns=1_000_000, wait_ns=wait_ns)
        return comparable_with_simulation(Trace.load(folder))

    assert comparable(40_000), "4 % of each thread's time are 12 % of the run time"
    assert not comparable(60_000)


def test_calls_that_have_only_their_time_in_the_simulation_are_named():
    made = trace()
    made.timed_one_sided_calls, made.file_calls = 12, 1
    assert "its 12 one-sided operations and 1 file operation are computation in the simulation" in program_sentence(
        made
    )


def test_a_busy_machine_is_called_busy():
    assert "repeat it on an idle machine" in load_text({"noise": 0.3})


@pytest.mark.parametrize(
    ("picoseconds", "text"),
    [
        (0, "0 s"),
        (1, "1 ps"),
        (1_300_000, "1.3 µs"),
        (999_600, "1 µs"),
        (-72_000, "-72 ns"),
        (123.4e12, "123 s"),
        (4e15, "4,000 s"),
    ],
)
def test_times_are_written_in_the_unit_that_reads_best(picoseconds: float, text: str):
    assert plain(time_text(picoseconds)) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0, "0 %"),
        (0.0021, "0.21 %"),
        (0.0995, "10 %"),
        (0.8, "80 %"),
        (-0.031, "-3.1 %"),
        (2e-6, "<0.001 %"),
        (31.0, "3,100 %"),
    ],
)
def test_percentages_have_two_digits(fraction: float, text: str):
    assert plain(percent_text(fraction)) == text


def test_other_numbers_are_short_and_have_units():
    assert plain(percent_range(0.0019, 0.00191)) == "0.19 %"
    assert plain(percent_range(-0.001, 0.02)) == "-0.10 to 2.0 %"
    assert count_text(16384) == "16,384"
    assert [si_text(value) for value in (0, 950, 12_345, 999_600, 508e6)] == [
        "0",
        "950",
        "12.3k",
        "1M",
        "508M",
    ]
    assert [plain(size_text(size)) for size in (1, 4096, 4097, 2**20)] == ["1 B", "4 KiB", "4,097 B", "1 MiB"]
    assert [plain(text) for text in fixed_seconds_texts([1.47, 1.5228])] == ["1.470 s", "1.523 s"]


def test_an_axis_has_percentages_without_superfluous_digits():
    fractions = (0.0, 0.05, 0.5, 1.0, 12.5, 0.0012, 1e-6, -0.2)
    texts = [plain(percent_tick(fraction)) for fraction in fractions]
    assert texts == ["0 %", "5 %", "50 %", "100 %", "1,250 %", "0.12 %", "0.0001 %", "-20 %"]

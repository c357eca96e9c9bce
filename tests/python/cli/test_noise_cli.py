"""The commands on noise: what they print for people and for programs, what they write, what they refuse."""

from __future__ import annotations

import json
import os

import idlewave
import pandas as pd
import pytest
from click.testing import CliRunner
from idlewave.cli import cli, measure_noise_command
from idlewave.cli.noise_report import NoiseReport
from idlewave.errors import InputError, UsageError
from idlewave.formatting import plain_percent
from idlewave.measure.noise.length_laws import LengthLaw
from idlewave.measure.noise.nodes import rank_cores
from idlewave.measure.noise.noise_recording import read_recording
from idlewave.measure.noise.signature import Signature, Source
from noise_recordings import detours, quanta, summary, write_detours, write_ftq, write_fwq, write_recording


def run(*arguments):
    return CliRunner().invoke(cli, [str(a) for a in arguments], env={"COLUMNS": "80"}, catch_exceptions=True)


@pytest.fixture
def folder(tmp_path):
    sources = [(250, 5e-6)], [(100, 2e-5), (3, 1e-3)]
    cores = [detours(2 + core / 333, *sources, core=core) for core in range(2)]  # no two end at the same time
    return write_detours(tmp_path / "recording", cores)


@pytest.fixture
def brief(tmp_path):
    """Where it does not matter what a recording has."""
    return write_detours(tmp_path / "brief", [detours(0.4, [(250, 5e-6)], [(100, 2e-5)])])


@pytest.fixture
def ftq_folder(tmp_path):
    core = detours(2, [(100, 1e-5)], [(100, 2e-5)])
    return write_ftq(tmp_path / "ftq", [quanta(core, 1e-4, 1)], 1e-4)


@pytest.fixture
def fwq_folder(tmp_path):
    lengths = detours(2, (), [(1000, 2e-5)]).lengths
    return write_fwq(tmp_path / "fwq", [100_000_000 + lengths])


def test_show_has_tables_that_fit_on_80_columns_and_cut_nothing(folder, ftq_folder, fwq_folder):
    for place in (folder, ftq_folder, fwq_folder):
        done = run("noise", "show", place)
        assert done.exit_code == 0, done.output
        assert "overhead" in done.stdout
        assert "…" not in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80


def test_show_has_the_periodic_source(folder, ftq_folder):
    assert "250" in run("noise", "show", folder).stdout
    # Neither the kernel's configuration nor interrupts that were counted say that it is the tick.
    unnamed = run("noise", "show", ftq_folder).stdout
    assert "unknown" in unnamed
    assert "CONFIG_HZ" not in unnamed


def test_show_prints_one_json_object_for_programs(folder, ftq_folder, fwq_folder):
    for place, probe in ((folder, "detour"), (ftq_folder, "ftq"), (fwq_folder, "fwq")):
        said = json.loads(run("noise", "show", place, "--json").stdout)
        assert said["probe"] == probe
        assert said["cores"][0]["overhead"] > 0
    said = json.loads(run("noise", "show", folder, "--json").stdout)
    assert [round(peak["frequency"]) for peak in said["peaks"]] == [250]
    assert {row["window_ps"] for row in said["maximum"]} >= {10**8, 10**9, 10**10}


DISTURBED = {
    "dropped": 7,
    "own_cpu_s": 0.9,
    "steal_s": 0.25,
    "throttled": {"nr_throttled": 3, "throttled_s": 0.5, "core_throttle_count": None},
}
FULL = {
    "detour": "the buffer was full; 7 later detours",
    "ftq": "the buffer was full; the recording ends with it, 7 quanta early",
    "fwq": "the buffer was full; 7 later pieces of work were counted but not kept",
}


@pytest.mark.parametrize(
    ("probe", "columns", "rows"),
    [
        ("detour", ("start_ps", "length_ps"), [[0, 10**6], [10**11, 10**6]]),
        ("ftq", ("work",), [100] * 100),
        ("fwq", ("start_ps", "duration_ps"), [[i * 10**10, 10**10] for i in range(100)]),
    ],
)
def test_what_disturbed_a_recording_is_said_core_by_core(tmp_path, probe, columns, rows):
    entries = [(0, rows, summary(0, 1.0, **DISTURBED)), (1, rows, summary(1, 1.0))]
    write_recording(tmp_path, probe, entries, columns, quantum_ns=1e7)
    words = [
        FULL[probe],
        "other processes used 10 % of it",
        "the hypervisor took 250 ms",
        "slowed down 3 times",
    ]
    shown = run("noise", "show", tmp_path).stderr
    said = json.loads(run("noise", "show", tmp_path, "--json").stdout)
    for word in words:
        assert " ".join(shown.split()).count(f"note: Core 0: {word}") == 1
        assert sum(" ".join(note.split()).startswith(f"Core 0: {word}") for note in said["notes"]) == 1
    assert "Core 1" not in shown
    assert len(said["notes"]) == 4
    disturbed, quiet = said["cores"]
    assert [disturbed[key] for key in ("dropped", "steal_s", "throttled", "interrupted")] == [7, 0.25, 3, False]
    assert disturbed["foreign_load"] == pytest.approx(0.1)
    assert [quiet[key] for key in ("dropped", "foreign_load", "steal_s", "throttled")] == [0, 0, 0, 0]
    write_recording(tmp_path, probe, entries[1:], columns, quantum_ns=1e7, interrupted=True)
    assert "note: Core 1: interrupted after 1 s." in run("noise", "show", tmp_path).stderr


def test_causes_are_shown_where_events_were_recorded(tmp_path):
    said = summary(
        0, 1.0, events="events-cpu0.csv", interrupts={"LOC": {"count": 2, "meaning": "Local timer interrupts"}}
    )
    entry = (0, [[10**6, 3 * 10**6], [10**9, 5 * 10**6]], said)
    write_recording(tmp_path, "detour", [entry], ("start_ps", "length_ps"))
    (tmp_path / "events-cpu0.csv").write_text("begin_ns,end_ns,kind,name\n1000,4000,vector,local_timer\n")
    shown = run("noise", "show", tmp_path).stdout
    assert "local_timer" in shown
    assert "not explained" in shown
    assert "Local timer" in shown


def test_what_was_counted_is_a_second_and_core_of_all_cores(tmp_path):
    counts = [{"LOC": {"count": 100, "meaning": "Local timer interrupts"}}] * 4
    counts[2] = counts[2] | {"NVM": {"count": 640, "meaning": "a disk"}}
    entries = [(cpu, [[0, 10]], summary(cpu, 1.0, interrupts=counted)) for cpu, counted in enumerate(counts)]
    shown = run("noise", "show", write_recording(tmp_path, "detour", entries, ("start_ps", "length_ps"))).stdout
    rows = [[cell.strip() for cell in line.split("│")] for line in shown.splitlines() if "LOC" in line or "NVM" in line]
    assert [row[1:4] for row in rows] == [["NVM", "640", "160.0"], ["LOC", "400", "100.0"]]


def test_parts_are_percent_whatever_their_sign():
    parts = (0.12345, -0.0003, 0.0, 1e-6, float("inf"))
    assert [plain_percent(part) for part in parts] == ["12 %", "-0.030 %", "0 %", "<0.001 %", "infinite"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["spectrum", "heat"])
def test_plots_of_a_recording_without_detours_say_so(tmp_path, kind):
    quiet = write_detours(tmp_path / "quiet", [detours(1)])
    file = tmp_path / "plot.svg"
    done = run("noise", "show", quiet, "--plot", file, "--kind", kind)
    assert done.exit_code == 0, done.output
    assert file.stat().st_size > 1000


@pytest.mark.parametrize("kind", ["scatter", "lengths", "cdf", "spectrum", "heat", "maximum", "cores"])
def test_every_plot_of_detours_is_drawn(brief, tmp_path, kind):
    file = tmp_path / "plot.svg"
    assert run("noise", "show", brief, "--plot", file, "--kind", kind).exit_code == 0
    assert "<svg" in file.read_text()


def test_plots_of_quanta_are_drawn_and_others_are_refused(ftq_folder, fwq_folder, tmp_path):
    assert run("noise", "show", ftq_folder, "--plot", tmp_path / "a.png").exit_code == 0
    assert run("noise", "show", ftq_folder, "--plot", tmp_path / "b.png", "--kind", "spectrum").exit_code == 0
    assert run("noise", "show", fwq_folder, "--plot", tmp_path / "c.pdf").exit_code == 0
    refused = run("noise", "show", fwq_folder, "--plot", tmp_path / "d.png", "--kind", "heat")
    assert "expected one of quantiles for fwq, found heat" in str(refused.exception)
    refused = run("noise", "show", fwq_folder, "--plot", tmp_path / "d.txt")
    assert "expected a name that ends with" in refused.output


def test_a_signature_is_written_changed_and_becomes_a_machine(folder, tmp_path):
    file, changed = tmp_path / "noise-signature.toml", tmp_path / "changed.toml"
    done = run("noise", "signature", folder, "-o", file)
    assert done.exit_code == 0, done.output
    fitted = Signature.load(file)
    assert "every 4ms" in {source.name for source in fitted.sources}
    machine = tmp_path / "odin.toml"
    machine.write_text(idlewave.Machine.preset("odin").to_toml())
    more = ("--scale", 2, "--rates", 0.5, "--thin", 0.5, "--drop", "every 4ms")
    to = ("--noise", tmp_path / "quiet", "--machine", machine)
    assert run("noise", "signature", file, "-o", changed, *more, *to).exit_code == 0
    assert Signature.load(changed).overhead == pytest.approx(0.5 * fitted.drop("every 4ms").overhead)
    made = idlewave.Machine.load(tmp_path / "quiet" / "machine.toml")
    assert made.noise.trace.period == 2 * 10**12
    assert made.network == idlewave.Machine.preset("odin").network


def test_a_recording_is_replayed_as_it_was(folder, tmp_path):
    to = ("--replay", "--noise", tmp_path / "replayed")
    assert run("noise", "signature", folder, "-o", tmp_path / "s.toml", *to).exit_code == 0
    assert 'period = "4.003003003003s"' in (tmp_path / "replayed" / "noise.toml").read_text()


def test_periods_that_do_not_fit_into_what_is_drawn_are_said(tmp_path):
    file, noise = tmp_path / "s.toml", ("--noise", tmp_path / "made")
    law = LengthLaw("fixed", (1e9,))
    sources = [Source(name, 0, "periodic", period, law) for name, period in (("tick", 4e9), ("rare", 1.9e12))]
    file.write_text(Signature("x", (0,), tuple(sources)).to_toml())
    done = run("noise", "signature", file, "-o", tmp_path / "same.toml", *noise)
    assert "a core has rare once in its 1 s or never" in done.stderr
    assert "or never" not in run("noise", "signature", file, "-o", tmp_path / "same.toml").stderr
    assert "or never" not in run("noise", "signature", file, "-o", file, *noise, "--seconds", 20).stderr


def test_a_change_says_on_how_many_of_the_cores_it_acts(tmp_path):
    file, law = tmp_path / "s.toml", LengthLaw("fixed", (1e6,))
    names = [(0, "every 4ms"), (1, "every 4ms"), (0, "random 12us"), (1, "random 13us"), (2, "random 30us")]
    sources = [Source(name, core, "random", 1e9, law) for core, name in names]
    file.write_text(Signature("x", (0, 1, 2, 3), tuple(sources)).to_toml())
    changed = ("noise", "signature", file, "-o", tmp_path / "changed.toml")
    done = run(*changed, "--drop", "random 12us")
    assert (
        "--drop 'random 12us' acts on 2 of 3 cores with noise, on some as random 13us; the others have random 30us"
        in done.stderr
    )
    assert [s.name for s in Signature.load(tmp_path / "changed.toml").sources] == [
        "every 4ms",
        "every 4ms",
        names[4][1],
    ]
    assert "2 of 3 cores with noise; the others" in run(*changed, "--move", "every 4ms=1ms").stderr
    sources = [Source("every 4ms", core, "random", 1e9, law) for core in (0, 1)]
    file.write_text(Signature("x", (0, 1, 2), tuple(sources)).to_toml())
    assert "acts on" not in run(*changed, "--drop", "every 4ms").stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--replay"], "go with --noise"),
        (["--move", "tick=soon"], "expected SOURCE=PERIOD"),
        (["--drop", "tock"], "no source is called 'tock'"),
    ],
)
def test_wrong_use_of_signature_is_said(brief, tmp_path, arguments, words):
    refused = run("noise", "signature", brief, "-o", tmp_path / "s.toml", *arguments)
    assert words in str(refused.exception)


def test_two_recordings_are_compared_and_a_recording_with_its_signature(folder, tmp_path):
    other = write_detours(tmp_path / "other", [detours(2, (), [(10, 1e-3)])])
    done = run("noise", "compare", folder, other, "--plot", tmp_path / "plot.png")
    assert done.exit_code == 0, done.output
    assert "Expected worst loss" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith(("A: ", "B: "))) <= 80
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    assert json.loads(run("noise", "compare", folder, other, "--json").stdout)["ks"] > 0.5
    file = tmp_path / "s.toml"
    run("noise", "signature", folder, "-o", file)
    assert json.loads(run("noise", "compare", folder, file, "--json").stdout)["ks"] < 0.15


@pytest.mark.parametrize("option", ["--seconds", "--seed"])
def test_what_is_drawn_of_a_signature_is_refused_beside_two_recordings(brief, tmp_path, option):
    signature = tmp_path / "signature.toml"
    run("noise", "signature", brief, "-o", signature)
    assert run("noise", "compare", brief, signature, option, "3").exit_code == 0
    done = run("noise", "compare", brief, brief, option, "3")
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == f"nothing is drawn of recordings: {option} has no meaning beside it"


def test_spectra_of_short_recordings_are_not_compared(tmp_path):
    short = write_detours(tmp_path / "short", [detours(0.009, [(2000, 2e-5)])])
    assert "spectra differ by ? (too short)" in run("noise", "compare", short, short).stdout
    assert json.loads(run("noise", "compare", short, short, "--json").stdout)["spectrum_distance"] is None
    file = tmp_path / "s.toml"
    done = run("noise", "signature", short, "-o", file)
    assert done.exit_code == 0, done.output
    assert "? (too short)" in done.stdout
    assert Signature.load(file).notes == ()


def test_nodes_are_ranked_and_the_noisy_one_is_named(tmp_path):
    for rank in range(6):
        core = detours(1, [(250, 2e-4 if rank == 2 else 5e-6)], [(50, 1e-5)], seed=rank)
        write_detours(tmp_path / f"n{rank}-{rank}", [core], host=f"n{rank}", rank=rank, ranks=6)
    (tmp_path / "n9-9").mkdir()
    done = run("noise", "nodes", tmp_path, "--plot", tmp_path / "plot.png")
    assert done.exit_code == 0, done.output
    assert "1 of 6 are outliers: n2-2" in done.stdout
    assert "left out" in done.stderr
    said = json.loads(run("noise", "nodes", tmp_path, "--json").stdout)
    assert [row["node"] for row in said["nodes"] if row["outlier"]] == ["n2-2"]
    assert "expected the recording of one node" in str(run("noise", "nodes", tmp_path, "--cores").exception)


def test_the_cores_of_one_node_are_ranked(folder):
    assert run("noise", "nodes", folder, "--cores").exit_code == 0


def test_options_that_do_not_go_together_are_refused():
    assert run("measure", "noise", "--method", "ftq", "--attribute").exit_code == 2
    assert run("measure", "noise", "--quantum", "100").exit_code == 2


def test_a_measurement_keeps_tables_environment_and_the_probes_files(tmp_path):
    core = min(os.sched_getaffinity(0))
    for method, name in (("detour", "detours"), ("ftq", "ftq"), ("fwq", "fwq")):
        place = tmp_path / method
        done = run("measure", "noise", "--method", method, "--seconds", 0.3, "--core", core, "-o", place, "--json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["probe"] == method
        assert json.loads((place / "environment.json").read_text())["host"]
        assert pd.read_parquet(place / f"{name}.parquet")["core"].unique().tolist() == [core]
        assert run("noise", "show", place).exit_code == 0


def _cut(folder):
    file = folder / "detour-cpu0.i64"
    file.write_bytes(file.read_bytes()[:-16])


def test_what_is_missing_of_a_recording_is_said_by_every_command(folder, tmp_path):
    _cut(folder)
    full = (0, [[0, 10], [500, 10]], summary(0, 1.0, dropped=7, dropped_ns=1.0))
    other = write_recording(tmp_path / "full", "detour", [full], ("start_ps", "length_ps"))
    signature = ("signature", folder, "-o", tmp_path / "s.toml")
    for arguments in (signature, ("nodes", folder), ("nodes", folder, "--json"), ("compare", folder, other)):
        done = run("noise", *arguments)
        assert done.exit_code == 0, done.output
        assert done.stderr.count("were announced") == 1
    assert "the buffer was full; 7 later detours" in done.stderr


@pytest.mark.parametrize(
    "change", [("--thin", 0.5), ("--thin", 0), ("--scale", 2), ("--rates", 2), ("--drop", "x"), ("--move", "x=1ms")]
)
def test_a_replay_cannot_be_changed(folder, tmp_path, change):
    to = ("-o", tmp_path / "s.toml", "--replay", "--noise", tmp_path / "replayed")
    refused = run("noise", "signature", folder, *to, *change)
    assert refused.exit_code != 0
    assert "--replay writes the recording itself" in str(refused.exception)
    assert not (tmp_path / "replayed").exists()


def test_a_signature_is_no_recording_to_replay(folder, tmp_path):
    assert run("noise", "signature", folder, "-o", tmp_path / "s.toml").exit_code == 0
    to = ("-o", tmp_path / "same.toml", "--replay", "--noise", tmp_path / "replayed")
    refused = run("noise", "signature", tmp_path / "s.toml", *to)
    assert isinstance(refused.exception, UsageError)
    assert "--replay writes a recording as it was: expected one, found the signature" in str(refused.exception)
    assert not (tmp_path / "replayed").exists()


def test_a_time_of_noise_that_is_not_drawn_is_refused(folder, tmp_path):
    for more in ((), ("--replay", "--noise", tmp_path / "replayed")):
        refused = run("noise", "signature", folder, "-o", tmp_path / "s.toml", "--seconds", 5, *more)
        assert isinstance(refused.exception, UsageError)
        assert "--seconds has no meaning beside it" in str(refused.exception)


def test_noise_on_a_machine_reaches_what_the_machines_own_did(folder, tmp_path):
    machine = tmp_path / "m.toml"
    machine.write_text(idlewave.Machine.preset("odin").to_toml() + '[noise]\nkind = "none"\nreaches = ["calc"]\n')
    for name, more in (("fitted", ()), ("replayed", ("--replay",))):
        to = ("--noise", tmp_path / name, "--machine", machine, *more)
        assert run("noise", "signature", folder, "-o", tmp_path / "s.toml", *to).exit_code == 0
        made = idlewave.Machine.load(tmp_path / name / "machine.toml")
        assert made.noise_reaches == ("calc",)
        assert made.noise is not None


def test_the_recordings_of_one_host_are_ranked_apart_and_their_cores_never_together(tmp_path):
    for day in ("monday", "tuesday"):
        write_detours(tmp_path / day, [detours(1, (), [(100, 1e-5)], core=core) for core in range(2)])
    table = json.loads(run("noise", "nodes", tmp_path, "--json").stdout)["nodes"]
    assert {row["node"]: row["cores"] for row in table} == {"here (monday)": 2, "here (tuesday)": 2}
    refused = run("noise", "nodes", tmp_path, "--cores")
    assert "--cores: expected the recording of one node, found 2" in str(refused.exception)
    twice = [detours(1, [(100, 1e-5)])] * 2
    with pytest.raises(InputError, match="expected 2 different cores of one node, found 1"):
        rank_cores(twice)


def test_a_seed_is_not_negative(folder, tmp_path):
    for arguments in (("signature", folder, "-o", tmp_path / "s.toml"), ("compare", folder, folder)):
        assert run("noise", *arguments, "--seed", -1).exit_code == 2
    assert not (tmp_path / "s.toml").exists()


def test_a_signature_of_lengths_without_a_mean_is_shown_and_is_no_machine(tmp_path):
    file = tmp_path / "heavy.toml"
    law = LengthLaw("pareto", (1e6, 0.9))
    file.write_text(Signature("heavy", (0,), (Source("tail", 0, "random", 1e9, law),)).to_toml())
    shown = run("noise", "signature", file, "-o", tmp_path / "same.toml")
    assert shown.exit_code == 0, shown.output
    assert "infinite" in shown.stdout
    refused = run("noise", "signature", file, "-o", tmp_path / "same.toml", "--noise", tmp_path / "made")
    assert isinstance(refused.exception, InputError)
    assert "leave no time" in str(refused.exception)


def test_a_kind_of_plot_goes_with_a_plot(folder):
    assert run("measure", "noise", "--kind", "heat").exit_code == 2
    assert "--kind goes with --plot" in str(run("noise", "show", folder, "--kind", "heat").exception)


def test_a_kind_that_the_method_has_not_is_refused_before_it_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(measure_noise_command, "record", lambda *_, **__: pytest.fail("it was measured"))
    plot = ("--plot", tmp_path / "plot.png", "--kind", "heat")
    refused = run("measure", "noise", "--method", "fwq", *plot)
    assert "expected one of quantiles for fwq, found heat" in str(refused.exception)


def test_the_environment_is_there_when_the_measurement_is_interrupted(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(measure_noise_command, "record", interrupted)
    assert run("measure", "noise", "-o", tmp_path / "kept").exit_code != 0
    assert json.loads((tmp_path / "kept" / "environment.json").read_text())["host"]


def test_tables_are_written_before_the_plot_and_their_folder_is_made(folder, tmp_path, monkeypatch):
    def fails(*_):
        raise InputError("nothing to draw")

    monkeypatch.setattr(measure_noise_command, "record", lambda *_, **__: read_recording(folder))
    monkeypatch.setattr(NoiseReport, "plot", fails)
    samples = tmp_path / "new" / "folder" / "samples.parquet"
    done = run("measure", "noise", "-o", folder, "--samples", samples, "--plot", tmp_path / "plot.png")
    assert "nothing to draw" in str(done.exception)
    assert len(pd.read_parquet(samples)) == len(pd.read_parquet(folder / "detours.parquet")) > 0

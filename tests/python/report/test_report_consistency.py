"""A report joins what belongs together, and refuses the rest, or says in its sentences what does not belong."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from click.testing import CliRunner
from emulated_samples import emulate
from idlewave import InputError, Machine, Provenance, Schedule, simulate
from idlewave.cold_caches import ColdCaches
from idlewave.formatting import plain
from idlewave.measure import Measurement, NetworkMeasurement, describe, estimate, write_machine
from idlewave.measure.noise import summarise
from idlewave.output import write_table
from idlewave.report import Report, build, findings, report_of
from idlewave.report.consistency import Part, consistency_of
from idlewave.studies.table import read_study
from known_networks import RENDEZVOUS
from noise_recordings import detour_summary
from trace_files import write_trace


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A measured machine in machine/, another one in other/, a trace in trace/ that ran on the first."""
    place = tmp_path_factory.mktemp("parts")
    samples = emulate(RENDEZVOUS["infiniband"], seed=1, repetitions=10)
    probe = {"same_node": True, "library": "Some MPI 1.0, of a test", "ranks": [{"host": "node1"}]}
    environment = describe() | {"host": "node1"}
    network = NetworkMeasurement(samples, estimate(samples, RENDEZVOUS["infiniband"].S), probe, environment)
    for name, every in (("machine", 4_000_000_000), ("other", 3_000_000_000)):
        rows = pd.DataFrame({"core": 0, "start_ps": range(0, 900_000_000_000, every), "length_ps": 300_000_000})
        write_machine(place / name, summarise(rows, [detour_summary(0, 1.0)], environment), network, name=name)
    write_trace(place / "trace", gap_ns=3_000_000)
    return place


@pytest.fixture
def measured(folder: Path) -> Measurement:
    return Measurement.load(folder / "machine")


@pytest.fixture
def trace(folder: Path) -> idlewave.Trace:
    return idlewave.Trace.load(folder / "trace")


def machine_in(folder: Path, name: str = "machine") -> Machine:
    return Machine.load(folder / name / "machine.toml")


def studied(schedule: Schedule, machine: Machine) -> pd.DataFrame:
    return idlewave.study(schedule, machine, seeds=range(3))


def predicted(trace: idlewave.Trace, machine: Machine, **options: object) -> idlewave.Timeline:
    return simulate(Schedule.from_trace(trace, **options), machine, noise=None)


def refusal(*parts: object) -> str:
    with pytest.raises(InputError) as refused:
        report_of(*parts, study_name="study.parquet")
    assert "do not belong together" in str(refused.value)
    assert "--allow-mixed" in str(refused.value)
    return str(refused.value)


def mixed(*parts: object) -> Report:
    return report_of(*parts, study_name="study.parquet", allow_mixed=True)


def test_what_belongs_together_is_joined_without_a_word(folder: Path, measured, trace) -> None:
    machine = machine_in(folder)
    study = studied(Schedule.from_trace(trace), machine)
    data = report_of(measured, trace, predicted(trace, machine), study)
    assert data.consistency.sentences() == []
    assert data.consistency.noise == "the measured noise"
    assert findings(data)["scale"].startswith("The measured noise slows the program by")


def test_a_study_on_another_machine_is_refused_by_name_of_both_and_what_differs(folder: Path, measured) -> None:
    study = studied(Schedule.from_trace(folder / "trace"), machine_in(folder, "other"))
    said = refusal(measured, None, None, study)
    assert "study.parquet was simulated with the noise of 'other'" in said
    assert str(folder / "machine") in said
    assert "network" not in said


@pytest.mark.usefixtures("undrawn")
def test_mixed_parts_are_said_in_the_sentence_the_captions_and_the_caveats(
    folder: Path, measured, tmp_path: Path
) -> None:
    study = studied(Schedule.from_trace(folder / "trace"), machine_in(folder, "other"))
    data = mixed(measured, None, None, study)
    sentence = findings(data)["scale"]
    assert sentence.startswith("The noise of 'other', not the measured one, slows the program by")
    assert "the measured noise" not in sentence.lower()
    page = re.sub("&#39;", "'", build(data, tmp_path).read_text(encoding="utf-8"))
    for name in ("slowdown", "run-time"):
        caption = page.partition(f'id="{name}-caption"')[2].partition("</figcaption>")[0]
        assert "the noise of 'other', not the measured one," in caption
        assert "study.parquet was simulated with the noise of 'other'" in caption
        assert "the measured noise" not in caption
    assert page.count("<dt>Mixed parts</dt>") == 1


def test_another_measurement_of_the_same_name_is_another_machine(folder: Path, measured, tmp_path: Path) -> None:
    text = (folder / "other" / "machine.toml").read_text().replace('name = "other"', 'name = "machine"')
    shutil.copytree(folder / "other", tmp_path / "again")
    (tmp_path / "again" / "machine.toml").write_text(text)
    study = studied(Schedule.from_trace(folder / "trace"), machine_in(tmp_path, "again"))
    assert "the noise of another machine that is called 'machine'" in refusal(measured, None, None, study)


def test_a_study_that_does_not_say_what_it_is_of_is_refused(folder: Path, measured) -> None:
    study = studied(Schedule.from_trace(folder / "trace"), machine_in(folder))
    study.attrs = {}
    assert "study.parquet does not say of which machine and which program it is" in refusal(measured, None, None, study)
    data = mixed(measured, None, None, study)
    assert findings(data)["scale"].startswith("Noise of unknown origin slows the program by")


def test_a_study_alone_is_joined_with_nothing_and_names_its_machine(folder: Path) -> None:
    study = studied(Schedule.from_trace(folder / "trace"), machine_in(folder))
    assert findings(report_of(None, None, None, study))["scale"].startswith("The noise of 'machine' slows")
    study.attrs = {}
    assert findings(report_of(None, None, None, study))["scale"].startswith("Noise of unknown origin slows")


def test_a_network_between_nodes_like_the_measured_one_fits_and_is_named(
    folder: Path, measured, tmp_path: Path
) -> None:
    cluster = machine_in(folder).between(Machine.preset("infiniband-hdr"), node_ranks=2)
    schedule = Schedule.from_trace(folder / "trace").extrapolate(8)
    write_table(tmp_path / "s.csv", studied(schedule, cluster))
    data = report_of(measured, None, None, read_study(tmp_path / "s.csv"))
    assert data.consistency.sentences() == []
    scale = findings(data)["scale"]
    assert scale.startswith("The measured noise slows the program by")
    assert "of infiniband-hdr" in scale


def test_another_network_is_no_measured_one(folder: Path, measured) -> None:
    machine = replace(machine_in(folder), name="x", network=Machine.preset("odin").network)
    study = studied(Schedule.from_trace(folder / "trace"), machine)
    assert "study.parquet was simulated with the network of 'x'" in refusal(measured, None, None, study)
    scale = findings(mixed(measured, None, None, study))["scale"]
    assert scale.startswith("The measured noise slows")
    assert "with the network of 'x', not with what was measured in" in scale


def test_a_study_of_another_trace_is_refused(folder: Path, trace, tmp_path: Path) -> None:
    other = Schedule.from_trace(write_trace(tmp_path / "trace-2"))
    said = refusal(None, trace, None, studied(other, machine_in(folder)))
    assert f"study.parquet is of {tmp_path / 'trace-2'}, not of the run in {folder / 'trace'}" in said
    pattern = Schedule.pattern("bcast", ranks=2)
    assert "study.parquet is of bcast" in refusal(None, trace, None, studied(pattern, machine_in(folder)))


def test_a_study_of_a_stretch_of_the_run_is_refused(folder: Path, trace) -> None:
    schedule = Schedule.from_trace(folder / "trace", begin="2")
    said = refusal(None, trace, None, studied(schedule, machine_in(folder)))
    assert f"study.parquet is of a stretch of the run in {folder / 'trace'} (begin 2)" in said


def test_a_study_of_the_traces_goal_text_fits_until_that_is_edited(folder: Path, trace, tmp_path: Path) -> None:
    file = tmp_path / "x.goal"
    Schedule.from_trace(trace).save(file)
    assert report_of(None, trace, None, studied(Schedule.load(file), machine_in(folder))).consistency.sentences() == []
    file.write_text(file.read_text().replace("calc 3000000", "calc 1", 1))
    said = refusal(None, trace, None, studied(Schedule.load(file), machine_in(folder)))
    assert f"study.parquet is of {file}, which was edited after it was made" in said


def test_other_algorithms_in_study_and_prediction_are_refused(folder: Path, measured, trace) -> None:
    machine = machine_in(folder)
    ring = {"allreduce": "ring"}
    study = studied(Schedule.from_trace(trace, algorithms=ring), machine)
    said = refusal(measured, trace, predicted(trace, machine), study)
    assert "study.parquet has collectives with allreduce=ring" in said
    assert "with the default algorithms" in said
    assert report_of(measured, trace, predicted(trace, machine, algorithms=ring), study).consistency.sentences() == []


def test_other_costs_of_cold_caches_in_study_and_prediction_are_refused(folder: Path, measured, trace) -> None:
    machine = machine_in(folder)
    cold = ColdCaches(((4 * 10**9, 20_000_000),))
    study = studied(Schedule.from_trace(trace, cold_caches=cold), machine)
    said = refusal(measured, trace, predicted(trace, machine), study)
    assert "study.parquet has other costs of cold caches than the prediction of the run" in said
    assert "collectives with" not in said
    assert report_of(measured, trace, predicted(trace, machine, cold_caches=cold), study).consistency.sentences() == []


def test_a_trace_whose_files_were_exchanged_is_refused(folder: Path, tmp_path: Path) -> None:
    found = idlewave.Trace.load(folder / "trace").provenance
    write_trace(tmp_path, gap_ns=1, said={"provenance": found.as_json()})
    said = refusal(None, idlewave.Trace.load(tmp_path), None, None)
    assert f"The ranks’ files in {tmp_path} are not those that its trace.json was written with" in said


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder / "machine", tmp_path / "machine")
    return tmp_path / "machine"


def test_a_machine_toml_that_was_edited_is_told_from_what_was_measured(copied: Path, trace) -> None:
    toml = copied / "machine.toml"
    toml.write_text(re.sub(r"^L = \S+", 'L = "1ns"', toml.read_text(), count=1, flags=re.MULTILINE))
    measured = Measurement.load(copied)
    said = refusal(measured, None, None, None)
    assert f"What {toml} has as network is not what {copied / 'measurement.json'} has as measured" in said
    prediction = predicted(trace, Machine.load(toml))
    sentences = findings(mixed(measured, trace, prediction, None))
    assert f"What {toml} has as network is not" in sentences["machine"]
    assert "The prediction of the run was simulated with the network of another machine" in sentences["program"]


def test_one_sided_operations_that_were_measured_later_are_no_edit(copied: Path, trace) -> None:
    toml = copied / "machine.toml"
    later = '[network.one_sided]\nL = "1.1us"\no = "0.2us"\ng = "0.3us"\nG = "0.1ns"\nO = "0.05ns"\n'
    toml.write_text(f"{toml.read_text()}\n{later}")
    machine, measured = Machine.load(toml), Measurement.load(copied)
    assert machine.one_sided is not None
    assert measured.misfits() == []
    assert not mixed(measured, trace, predicted(trace, machine), None).consistency.contradictions


def test_noise_that_was_exchanged_is_told_too(copied: Path) -> None:
    (copied / "noise.csv").write_text("start_ns,length_ns\n5,5\n")
    assert "has as noise is not what" in refusal(Measurement.load(copied), None, None, None)


def test_comments_in_a_machine_toml_may_be_edited(copied: Path) -> None:
    toml = copied / "machine.toml"
    toml.write_text("# mine\n" + "\n".join(toml.read_text().splitlines()[1:]) + "\n")
    assert Measurement.load(copied).misfits() == []


def test_samples_of_another_time_are_told(folder: Path, copied: Path) -> None:
    shutil.copy(folder / "other" / "noise-samples.parquet", copied)
    said = refusal(Measurement.load(copied), None, None, None)
    assert (
        f"{copied / 'noise-samples.parquet'} is not the file that {copied / 'measurement.json'} was written with"
        in said
    )


def test_file_names_in_a_measurement_lead_nowhere_else(copied: Path) -> None:
    measured = Measurement.load(copied)
    assert measured.provenance is not None
    elsewhere = Provenance("recording", digests={"../../etc/passwd": "sha256:0", "/dev/zero": "sha256:0"})
    assert replace(measured, provenance=replace(measured.provenance, sources=(elsewhere,))).misfits() == []


def test_a_program_that_ran_elsewhere_is_joined_and_said_to_have(measured, trace, tmp_path: Path) -> None:
    assert not any("The program ran on" in note for note in report_of(measured, trace, None, None).notes)
    away = idlewave.Trace.load(write_trace(tmp_path, hosts=("node7", "node8")))
    data = report_of(measured, away, None, None)
    assert data.consistency.sentences() == []
    assert any(
        "The program ran on node7 and node8, but the machine was measured on node1" in note for note in data.notes
    )


def test_tables_in_files_keep_what_they_are_of(folder: Path, measured, trace, tmp_path: Path) -> None:
    study = studied(Schedule.from_trace(trace), machine_in(folder))
    for name in ("s.parquet", "s.csv"):
        write_table(tmp_path / name, study)
        assert report_of(measured, trace, None, read_study(tmp_path / name)).consistency.sentences() == []
    study.to_csv(tmp_path / "plain.csv", index=False)
    assert "does not say" in refusal(measured, trace, None, read_study(tmp_path / "plain.csv"))


def test_parts_that_nobody_can_hold_against_each_other_are_no_misfits() -> None:
    assert consistency_of(None, None, None, None).sentences() == []
    assert consistency_of(None, None, None, Part("s", None)).sentences() == []
    machine = Provenance("machine", "m", {"network": "a", "noise": "b"})
    assert consistency_of(Part("m/", machine), None, None, None).sentences() == []


@pytest.mark.usefixtures("undrawn")
def test_the_report_command_refuses_with_one_line_and_obeys_allow_mixed(
    material: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from command_runs import run_command
    from idlewave.cli import cli

    run_command(["study", material["goal"], "-m", "odin", "-o", "s.parquet"], tmp_path)
    words = ["report", "--machine", material["machine"], "--study", "s.parquet", "-o", "report"]
    refused = run_command(words, tmp_path)
    assert (refused.status, len(refused.complained.strip().splitlines())) == (1, 1)
    assert "s.parquet was simulated with the network of 'odin'" in refused.complained
    assert not (tmp_path / "report").exists()
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(cli, [*words, "--allow-mixed"])
    assert made.exit_code == 0, made.output
    assert "s.parquet was simulated with the network of 'odin'" in made.output
    said = Provenance.read(tmp_path / "report")
    assert said is not None
    assert said.options == {"allow_mixed": True}


@pytest.mark.usefixtures("undrawn")
def test_a_report_says_which_algorithms_its_prediction_follows(material: dict[str, str], tmp_path: Path) -> None:
    from idlewave.cli import cli

    words = ["report", "--machine", material["machine"], "--trace", material["trace"], "-o", str(tmp_path / "report")]
    made = CliRunner().invoke(cli, [*words, "-a", "openmpi"])
    assert made.exit_code == 0, made.output
    (page,) = (tmp_path / "report").glob("*.html")
    text = plain(page.read_text())
    assert "The prediction has collectives by the choices of Open MPI 5.0: allreduce: 3 recursive_doubling." in text

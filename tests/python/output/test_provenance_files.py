"""Every file and folder that is written carries what it was made from, in a form that others can read, too."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from click.testing import CliRunner
from command_runs import run_command
from idlewave import Machine, Provenance, Schedule, simulate, traced_run
from idlewave.cli import cli, study_command
from idlewave.export import write_otf2, write_perfetto
from idlewave.export.picture import write_picture
from idlewave.measure import Measurement
from PIL import Image
from places import EXAMPLES
from trace_files import write_trace
from tracer_support import command_of, compiled, open_mpi


@pytest.fixture(scope="module")
def ops():
    return simulate(Schedule.pattern("bcast", ranks=4), Machine.preset("odin"), seed=5, record=True).ops_to_arrow()


def run(folder: Path, *words: object) -> str:
    ended = run_command([str(word) for word in words], folder)
    assert ended.status == 0, ended.complained
    return ended.printed


WRITTEN = {
    "schedule bcast --ranks 4 -o x.goal": ["x.goal"],
    "simulate bcast --ranks 4 -m odin --ops x.parquet": ["x.parquet"],
    "simulate bcast --ranks 4 -m odin --scheduler check --statistics x.json": ["x.json"],
    "timeline bcast --ranks 4 -m odin -o y.parquet": ["y.parquet"],
    "timeline bcast --ranks 4 -m odin -o x.png": ["x.png"],
    "timeline bcast --ranks 4 -m odin -o x.svg": ["x.svg"],
    "timeline bcast --ranks 4 -m odin -o x.pdf": ["x.pdf"],
    "study {goal} -m odin -o study.parquet": ["study.parquet"],
    "study {goal} -m odin -o study.csv": ["study.csv"],
    "study {goal} -m odin --scheduler check --statistics study.json": ["study.json"],
    "explain {goal} -m odin --no-tolerance --scheduler check --statistics explain.json": ["explain.json"],
    "noise signature {noise} -o s.toml --noise noise": ["s.toml", "noise/noise.toml"],
    "noise show {noise} --plot noise.png": ["noise.png"],
    "measure network --from {network} -o network --samples samples.parquet": [
        "network/machine.toml",
        "network/network.json",
        "network/network-samples.parquet",
        "samples.parquet",
    ],
    "pdes phold --lps 16 --end 1 --statistics phold.json": ["phold.json"],
    "report --machine {machine} -o report": [
        "report/report.html",
        "report/figures/network.png",
        "report/figures/network.svg",
    ],
}
"""What commands write, by their words."""


SLOW = [command for command in WRITTEN if command.startswith("report")]
"""A report draws its figures for seconds."""


@pytest.mark.parametrize(
    "command", [pytest.param(command, marks=pytest.mark.long) if command in SLOW else command for command in WRITTEN]
)
def test_what_a_command_writes_says_which_command_wrote_it(
    command: str, material: dict[str, str], tmp_path: Path
) -> None:
    words = command.format(**material)
    run(tmp_path, *words.split())
    for file in WRITTEN[command]:
        said = Provenance.read(tmp_path / file)
        assert said is not None, file
        assert said.version == idlewave.__version__
        assert said.made_by == f"idlewave {words}"


@pytest.mark.parametrize("ending", ["pftrace", "otf2"])
def test_timelines_for_viewers_say_it_too(ending: str, ops, tmp_path: Path) -> None:
    pytest.importorskip({"pftrace": "perfetto", "otf2": "otf2"}[ending], reason="its package is not installed")
    file = tmp_path / f"x.{ending}"
    (write_perfetto if ending == "pftrace" else write_otf2)(ops, file)
    assert Provenance.read(file) == Provenance.of_table(ops)


def test_pictures_have_no_time_and_no_host_so_that_the_same_data_give_the_same_file(ops, tmp_path: Path) -> None:
    later = Provenance.of_table(ops).written(by="idlewave.simulate", at=0)
    for ending in ("png", "svg", "pdf"):
        for name, table in (("a", ops), ("b", ops.replace_schema_metadata({"idlewave": later.to_json()}))):
            write_picture(table, tmp_path / f"{name}.{ending}", title="x")
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
        said = Provenance.read(tmp_path / f"a.{ending}")
        assert said.find("machine").name == "odin"
        assert (said.host, said.time) == ("", "")
    assert json.loads(Image.open(tmp_path / "a.png").text["Description"])["options"]["seed"] == 5


def test_json_that_is_printed_has_it(tmp_path: Path) -> None:
    for words in (
        ("simulate", "bcast", "--ranks", 4, "-m", "odin", "--seed", 3, "--json"),
        ("explain", "bcast", "--ranks", 4, "-m", "odin", "--seed", 3, "--json"),
    ):
        said = Provenance.from_object(json.loads(run(tmp_path, *words))["provenance"])
        assert said.options["seed"] == 3
        assert said.find("machine").digests == Machine.preset("odin").provenance.digests
    printed = json.loads(run(tmp_path, "pdes", "flood", "--end", 0.01, "--seed", 9, "--json"))
    assert printed["provenance"]["options"]["seed"] == 9


def test_a_study_in_CSV_is_plain_CSV_and_has_it_in_a_file_beside(material: dict[str, str], tmp_path: Path) -> None:
    run(tmp_path, "study", material["goal"], "-m", material["machine"], "--seeds", 2, "-o", "s.csv")
    run(tmp_path, "study", material["goal"], "-m", material["machine"], "--seeds", 2, "-o", "s.parquet")
    columns = ["ranks", "noise", "seed", "finish_ps", "messages"]
    csv, parquet = pd.read_csv(tmp_path / "s.csv"), pd.read_parquet(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(csv[columns], parquet[columns], check_dtype=False)
    beside = json.loads((tmp_path / "s.csv-metadata.json").read_text())
    assert beside["url"] == "s.csv"
    assert Provenance.from_json(beside["dc:provenance"]) == Provenance.read(tmp_path / "s.csv")


def test_metadata_of_another_CSV_file_are_not_taken_for_its_own(material: dict[str, str], tmp_path: Path) -> None:
    run(tmp_path, "study", material["goal"], "-m", material["machine"], "--seeds", 2, "-o", "s.csv")
    (tmp_path / "s.csv").write_text((tmp_path / "s.csv").read_text().replace("\n2,True", "\n4,True"))
    assert Provenance.read(tmp_path / "s.csv").options["edited"] is True
    ended = run_command(["report", "--machine", material["machine"], "--study", "s.csv", "-o", "report"], tmp_path)
    assert ended.status == 1
    assert "s.csv was edited after it was made" in ended.complained


def test_the_same_command_gives_the_same_data_whatever_the_time(tmp_path: Path) -> None:
    texts = []
    for name in ("a.goal", "b.goal"):
        run(tmp_path, "schedule", "bcast", "--ranks", 4, "-o", name)
        texts.append((tmp_path / name).read_text().splitlines()[1:])
    assert texts[0] == texts[1]


def test_what_an_interrupt_leaves_of_a_study_says_what_study_it_was(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, on_row: Callable[[dict[str, object]], None], **_options: object) -> None:
        on_row({"ranks": 4, "noise": False, "seed": 0, "finish_ps": 1, "messages": 3, "seconds": 0.1})
        raise KeyboardInterrupt

    monkeypatch.setattr(study_command, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        study_command.run_study(Schedule.pattern("bcast", ranks=4), machine, [4], 2, tmp_path / "s.parquet")
    said = Provenance.read(tmp_path / "s-interrupted.parquet")
    assert said.find("machine").digests == machine.provenance.digests


def test_a_machine_toml_says_in_a_comment_of_which_measurement_it_is(material: dict[str, str]) -> None:
    folder = Path(material["machine"])
    text = (folder / "machine.toml").read_text()
    tomllib.loads(text)
    said = Provenance.from_json(text.splitlines()[0].removeprefix("# idlewave: "))
    assert said == Measurement.load(folder).provenance
    assert said.digests == Machine.load(folder / "machine.toml").provenance.digests
    assert {name for source in said.sources for name in source.digests} == {
        "noise-samples.parquet",
        "network-samples.parquet",
    }


def test_the_measured_machine_is_the_one_in_its_toml(material: dict[str, str]) -> None:
    folder = Path(material["machine"])
    measured = Measurement.load(folder)
    assert measured.machine().provenance.digests == Machine.load(folder / "machine.toml").provenance.digests
    assert measured.misfits() == []


@pytest.mark.usefixtures("undrawn")
def test_a_report_shows_what_it_was_made_from_and_carries_it(
    material: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, "study", material["goal"], "-m", material["machine"], "--seeds", 2, "-o", "s.csv")
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(cli, ["report", "--machine", material["machine"], "--study", "s.csv", "-o", "."])
    assert made.exit_code == 0, made.output
    said = Provenance.read(tmp_path / "report.html")
    assert [source.kind for source in said.sources] == ["measurement", "study"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    section = page.partition('<section id="provenance">')[2].partition("</section>")[0]
    for shown in (
        "s.csv",
        said.sources[0].digests["noise"].removeprefix("sha256:")[:12],
        "ping.goal",
        said.time[:4],
    ):
        assert shown in section


def test_about_prints_it_for_people_and_programs(material: dict[str, str], tmp_path: Path) -> None:
    run(tmp_path, "study", material["goal"], "-m", "odin", "-o", "s.parquet")
    lines = run(tmp_path, "about", "s.parquet").splitlines()
    assert lines[0] == "study"
    assert "  by: idlewave study" in "\n".join(lines)
    assert "  machine odin" in lines
    said = json.loads(run(tmp_path, "about", "s.parquet", "--json"))
    assert Provenance.from_object(said) == Provenance.read(tmp_path / "s.parquet")
    for folder, kind in (("machine", "measurement"), ("network", "measurement")):
        assert run(tmp_path, "about", material[folder]).startswith(kind)


def test_about_what_says_nothing_is_an_error(material: dict[str, str], tmp_path: Path) -> None:
    ended = run_command(["about", material["goal"]], tmp_path)
    assert (ended.status, "ping.goal: it has no provenance" in ended.complained) == (1, True)
    ended = run_command(["about", "nowhere"], tmp_path)
    assert (ended.status, "nowhere: cannot be read as something that Idlewave made" in ended.complained) == (1, True)


def test_about_edited_goal_text_says_that_it_was_edited(tmp_path: Path) -> None:
    Schedule.pattern("bcast", ranks=4).save(tmp_path / "x.goal")
    (tmp_path / "x.goal").write_text((tmp_path / "x.goal").read_text().replace("1b", "2b"))
    assert "  edited: True" in run(tmp_path, "about", "x.goal").splitlines()


def test_names_with_markup_and_control_characters_are_shown_as_they_are(tmp_path: Path) -> None:
    said = Provenance.made("study", by="x", sources=(Provenance("machine", "[red]\x1b[2J"),))
    (tmp_path / "x.json").write_text(json.dumps({"provenance": said.as_json()}))
    shown = run(tmp_path, "about", "x.json")
    assert "machine [red]\\x1b[2J" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.json", '{"provenance": {"kind": 3}}'),
        ("x.json", "{" * 100_000),
        ("x.goal", "// idlewave: {\nnum_ranks 1\n"),
        ("x.parquet", "PAR1 and no more"),
    ],
)
def test_a_damaged_file_is_named(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(idlewave.InputError, match=name.replace(".", r"\.")):
        Provenance.read(tmp_path / name)


def test_a_file_full_of_beginnings_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "x.svg").write_text('{"kind": "' * 400_000)
    assert Provenance.read(tmp_path / "x.svg") is None


def test_a_trace_made_here_says_what_its_rank_files_are(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace")
    found = idlewave.Trace.load(folder).provenance
    write_trace(folder, said={"provenance": found.as_json()})
    assert Provenance.read(folder) == found
    assert idlewave.Trace.load(folder).provenance == found
    write_trace(folder, gap_ns=9000, said={"provenance": found.as_json()})
    assert idlewave.Trace.load(folder).provenance.options["changed"] is True


@pytest.mark.mpi
def test_a_traced_run_says_so(tmp_path: Path) -> None:
    use = open_mpi()
    traced_run.trace(command_of(use, 2, compiled(use.mpicc, EXAMPLES / "halo2d.c"), 16, 2, 1), tmp_path / "trace")
    recorded, found = Provenance.read(tmp_path / "trace"), idlewave.Trace.load(tmp_path / "trace").provenance
    assert recorded.digests == found.digests
    assert recorded.kind == "trace"
    assert "changed" not in found.options

"""Words of users and files neither act on a terminal nor forge a line, a page or a picture."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run
from idlewave import InputError, Machine, Schedule
from idlewave.cli import terminal
from idlewave.errors import IdlewaveError, OutputError, UsageError
from idlewave.escaping import printable, quote
from idlewave.export import plot_timeline, writer_for
from idlewave.measure import Measurement
from idlewave.measure.network.files.network_files import load_network
from idlewave.measure.network.job.clocks import read_clocks
from idlewave.measure.noise.noise_recording import read_recording
from idlewave.measure.noise.signature import Signature
from idlewave.plot_style import new_figure
from idlewave.provenance_in_files import picture_metadata
from idlewave.report import report_of
from idlewave.report.figures import png_of, svg_of
from idlewave.report.page import build
from idlewave.studies.table import read_study
from idlewave.trace import Trace
from input_samples import ESCAPES, NETWORK, STUDY


def test_every_error_s_message_is_without_control_characters_but_ends_of_lines() -> None:
    for kind in (IdlewaveError, InputError, UsageError, idlewave.ProgramError):
        assert str(kind(f"a{ESCAPES}b\nc\udcff")) == "a\\x1b[31m\\u202e\\x07b\nc\\xff"
    assert str(OutputError(f"x\n{ESCAPES}", "full")) == "x\\x0a\\x1b[31m\\u202e\\x07: cannot be written: full"


def test_what_is_quoted_is_cut_at_200_characters() -> None:
    assert quote("x" * 201) == "'" + "x" * 200 + "…'"
    with pytest.raises(InputError) as raised:
        Machine.from_toml(NETWORK.replace("5.3us", "x" * 10_000))
    assert len(str(raised.value)) < 400
    with pytest.raises(InputError) as raised:
        Machine.from_toml(NETWORK + "y" * 900 + " = 1\n")
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "call",
    [
        lambda name: Machine.preset(name),
        lambda name: Machine.load(name),
        lambda name: Schedule.load(name),
        lambda name: Schedule.pattern(name, ranks=4),
        lambda name: Schedule.pattern("bcast", ranks=4, algorithm=name),
        lambda name: Schedule.from_goal("num_ranks 1\n" + name),
        lambda name: Schedule.from_goal("num_ranks 1\nrank 0 {\n" + "z" * 5000 + "!", name=name),
        lambda name: Trace.load(name),
        lambda name: Machine.from_toml(NETWORK, name=name).with_noise_reaches([name]).core(),
        lambda name: idlewave.simulate(Schedule.pattern("bcast", ranks=2), Machine.preset("odin"), scheduler=name),
        lambda name: Machine.from_toml(f'{NETWORK}["{name}"]\n'.replace("\x1b", "\\u001b").replace("\x07", "\\u0007")),
        lambda name: read_recording(name),
        lambda name: read_clocks(name),
        lambda name: load_network(name),
        lambda name: Measurement.load(name),
        lambda name: Signature.load(name),
        lambda name: read_study(name),
    ],
)
def test_names_in_messages_are_escaped_and_cut(call: Callable[[str], object]) -> None:
    with pytest.raises(IdlewaveError) as raised:
        call(ESCAPES + "n" * 3000)
    said = str(raised.value)
    assert printable(said, keep="") == said
    assert len(said) < 1500


def test_a_deadlock_s_labels_are_cut() -> None:
    label = "w" * 5000
    goal = f"num_ranks 2\nrank 0 {{\n{label}: recv 8b from 1\n}}\nrank 1 {{\n}}\n"
    with pytest.raises(idlewave.Deadlock) as raised:
        idlewave.simulate(Schedule.from_goal(goal), Machine.preset("odin"))
    assert "w" * 200 + "…" in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_the_command_line_escapes_what_it_quotes(tmp_path: Path) -> None:
    name = tmp_path / f"{ESCAPES}[b]\n.toml"
    name.write_text(NETWORK.replace("5.3us", "[bold]\\u001b"))
    for arguments in (
        ("simulate", "bcast", "--ranks", "2", "-m", str(name)),
        ("simulate", "bcast", "--ranks", "2", f"--{ESCAPES}"),
        ("simulate", str(name), "-m", "odin"),
    ):
        done = run(*arguments)
        assert done.returncode in (1, 2)
        assert "\\x1b" in done.stderr
        assert "Traceback" not in done.stderr
        assert printable(done.stderr) == done.stderr


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_names_of_machines_and_schedules_neither_act_on_a_terminal_nor_forge_a_line(
    command: str, tmp_path: Path
) -> None:
    machine, goal = tmp_path / "m.toml", tmp_path / f"g{ESCAPES}\n.goal"
    name = "x\\u001b[31m\\nerror: forged\\r" + "n" * 5000
    machine.write_text(
        f'name = "{name}"\n{NETWORK}'.replace("[network]", '[network]\nmeasured = "within a node"\nranks = 1')
    )
    goal.write_text("num_ranks 2\nrank 0 {\ncalc 5\n}\nrank 1 {\ncalc 5\n}\n")
    done = run(command, str(goal), "-m", str(machine))
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    assert "g\\x1b[31m\\u202e\\x07\\x0a.goal on x\\x1b[31m\\x0aerror: forged\\x0dnnn" in first
    assert "n…: 2 ranks" in first
    for text in (done.stdout, done.stderr):
        assert printable(text) == text
        assert not any(line.startswith("error:") for line in text.splitlines())
    assert "n… was measured within a node of 1 ranks" in done.stderr


def test_what_is_shown_while_one_waits_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("a\nb")
    terminal.say_note("a\nb")
    terminal.show_table(pd.DataFrame({"x": ["c\nd"]}), "e\nf")
    shown = capsys.readouterr()
    assert "a\\x0ab\n" in shown.out
    assert "c\\x0ad" in shown.out
    assert "e\\x0af" in shown.out
    assert shown.err == "note: a\\x0ab\n"


def test_a_file_whose_name_is_not_utf_8_is_read_and_named(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/n\xff.goal")
    Path(path).write_text("num_ranks 1\nrank 0 {\ncalc 5\n}\n")
    schedule = Schedule.load(path)
    assert schedule.ranks == 1
    Path(path).write_text("no schedule")
    with pytest.raises(InputError, match=r"n\\xff.goal:1:1: expected 'num_ranks'"):
        Schedule.load(path)


def test_tables_and_lines_show_markup_and_controls_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say(f"host {ESCAPES}[bold]x[/][/]:bomb:")
    assert capsys.readouterr().out == "host \\x1b[31m\\u202e\\x07[bold]x[/][/]:bomb:\n"
    terminal.show_table(pd.DataFrame({"host[/]": [f"{ESCAPES}[/red]"]}), f"t[/]{ESCAPES}")
    said = capsys.readouterr().out
    assert "\\x1b[31m\\u202e\\x07[/red]" in said
    assert printable(said) == said


def test_the_report_shows_no_controls_and_no_markup_of_data(tmp_path: Path) -> None:
    data = report_of(None, None, None, STUDY, title=f"<b>{ESCAPES}")
    page = build(data, tmp_path).read_text()
    assert "&lt;b&gt;\\x1b[31m\\u202e\\x07" in page
    assert printable(page) == page


def test_pictures_show_labels_that_look_like_formulas_or_controls() -> None:
    figure = new_figure(2)
    axes = figure.subplots()
    axes.bar(["$\\frac{$", "b$"], [1, 2])
    axes.set_title(f"$\\x$ {ESCAPES}")
    axes.plot([0, 1], [1, 2], label="$a_{b$")
    axes.legend()
    assert svg_of(figure).startswith("<?xml")
    assert png_of(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_a_picture_with_any_name_in_its_title_is_well_formed(form: str, tmp_path: Path) -> None:
    machine, schedule = Machine.preset("odin"), Schedule.pattern("bcast", ranks=2)
    ops = idlewave.simulate(schedule, machine, record=True).ops_to_arrow()
    file = tmp_path / f"x.{form}"
    writer_for(file)(ops, f"<a>&{ESCAPES}\n\ufffe\uffff\udcff")
    data = file.read_bytes()
    assert b"\x1b[31m" not in data
    if form == "svg":
        title = ElementTree.fromstring(data).find(".//{*}title")
        assert title is not None
        assert title.text == "<a>&\\x1b[31m\\u202e\\x07\\x0a\\ufffe\\uffff\\xff"


def test_pictures_of_all_kinds_say_what_they_are_in_printable_words() -> None:
    for form in ("svg", "png", "pdf"):
        said = picture_metadata(form, None, ESCAPES)
        assert said["Title"] == "\\x1b[31m\\u202e\\x07"


def test_a_timeline_s_title_may_look_like_a_formula() -> None:
    machine, schedule = Machine.preset("odin"), Schedule.pattern("bcast", ranks=2)
    ops = idlewave.simulate(schedule, machine, record=True).ops_to_arrow()
    assert png_of(plot_timeline(ops, title="$\\undefined{$"))

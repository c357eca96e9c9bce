"""Lists in files and pipes are what rich prints there, to the byte, with rich or without it."""

from __future__ import annotations

import pytest
from idlewave.cli import terminal
from idlewave.cli.plain_tables import show_texts

COLUMNS = ["name", "L", "does"]
ROWS = [
    ("odin", "5.3 µs", "Odin, a machine"),
    ("a-longer-one", 12, ""),
    ("x", -1.5, "says [bold]nothing[/bold] :smile:"),
]


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def by_rich(capsys: pytest.CaptureFixture[str], title: str, rows: list[tuple[object, ...]]) -> str:
    terminal.show_rows(title, COLUMNS, rows, {"L"})
    return capsys.readouterr().out


def test_plain_texts_need_no_rich(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = by_rich(capsys, "Machines", ROWS)
    monkeypatch.delattr(terminal, "show_rows")
    show_texts("Machines", COLUMNS, ROWS, {"L"})
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("title", "rows"),
    [
        ("Nothing", []),
        ("Of two columns each", [("日本", 1, "漢字")]),
        ("Of none", [("e\u0301", 1, "a\u200bb")]),
        ("A control character", [("a\x1b[31m", 1, "tab\there")]),
        ("Two lines", [("a\nb", 1, "")]),
        ("Blanks", [(" a ", 1, "b  c ")]),
        ("A title that is by far longer than all of the columns of the table together", [("a", 1, "b")]),
        ("A long cell", [("a", 1, "word " * 3000)]),
        ("A narrow space", [("a", "1\u202fs", "\u2212 2")]),
    ],
)
def test_others_are_printed_as_well(
    title: str, rows: list[tuple[object, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    expected = by_rich(capsys, title, rows)
    show_texts(title, COLUMNS, rows, {"L"})
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(("name", "value"), [("COLUMNS", "20"), ("FORCE_COLOR", "1"), ("TTY_COMPATIBLE", "1")])
def test_what_is_set_for_a_terminal_holds(
    name: str, value: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    expected = by_rich(capsys, "Machines", ROWS)
    show_texts("Machines", COLUMNS, ROWS, {"L"})
    assert capsys.readouterr().out == expected

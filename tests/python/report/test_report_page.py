"""The page needs nothing but itself, shows what was measured and no more, and opens in a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser_pages import check_in_browser
from idlewave.report import Report, build, findings
from idlewave.report import page as page_module
from idlewave.report.consistency import Consistency
from matplotlib.image import imread
from report_samples import measurement, no_noise, noise, prediction, quiet_trace, sample, study, trace

ALL = (
    "detours",
    "detour-lengths",
    "network",
    "communication",
    "time",
    "computation",
    "prediction",
    "slowdown",
    "run-time",
)
LINKING = {
    "src",
    "href",
    "xlink:href",
    "srcset",
    "data",
    "action",
    "poster",
    "formaction",
    "background",
    "cite",
}
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """All attributes, ids, headings, and whether tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.handle_attributes(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handle_attributes(attrs)

    def handle_attributes(self, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in LINKING]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(sample(), tmp_path_factory.mktemp("report"))


def test_the_page_refers_to_nothing_outside_itself(page: Path):
    text = page.read_text(encoding="utf-8")
    parsed = Page(text)
    assert parsed.links
    assert all(link.startswith(("#", "data:")) for link in parsed.links)
    assert "http" not in text
    assert "@import" not in text
    assert all(url.startswith("#") for url in re.findall(r"url\((.*?)\)", text))
    assert "script" not in parsed.tags


def test_references_inside_the_page_lead_to_exactly_one_place(page: Path):
    text = page.read_text(encoding="utf-8")
    parsed = Page(text)
    assert len(set(parsed.ids)) == len(parsed.ids)
    wanted = {link[1:] for link in parsed.links if link.startswith("#")}
    wanted |= set(re.findall(r"url\(#(.*?)\)", text))
    wanted |= set(re.findall(r'aria-labelledby="(.*?)"', text))
    assert wanted <= set(parsed.ids)
    assert not parsed.open


def test_every_figure_is_in_the_page_and_beside_it_as_svg_and_png(page: Path):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r'<figure id="figure-([\w-]+)"', text) == list(ALL)
    assert re.findall(r"<b>Figure (\d+)\.</b>", text) == [str(number + 1) for number in range(len(ALL))]
    files = {path.name for path in (page.parent / "figures").iterdir()}
    assert files == {f"{name}.{kind}" for name in ALL for kind in ("svg", "png")}
    for name in ALL:
        assert imread(page.parent / "figures" / f"{name}.png").std() > 0.05


def test_the_three_sentences_stand_on_the_page(page: Path):
    text = page.read_text(encoding="utf-8")
    sentences = findings(sample())
    assert len(sentences) == 3
    for topic, sentence in sentences.items():
        assert f'<dd id="finding-{topic}">{sentence}</dd>' in text


@pytest.mark.long
def test_the_same_data_give_the_same_files_of_all_figures(page: Path, tmp_path: Path):
    again = build(sample(), tmp_path / "again.html")
    assert again.read_bytes() == page.read_bytes()
    for name in ALL:
        for kind in ("svg", "png"):
            file = f"figures/{name}.{kind}"
            assert (tmp_path / file).read_bytes() == (page.parent / file).read_bytes()


def test_the_same_data_give_the_same_files(tmp_path: Path):
    one, again = (build(Report(trace=trace()), tmp_path / name / "page.html") for name in ("one", "again"))
    assert again == tmp_path / "again" / "page.html"
    assert again.read_bytes() == one.read_bytes()
    figures = sorted((one.parent / "figures").iterdir())
    assert [file.name for file in figures] == [
        f"{name}.{form}" for name in ("communication", "computation", "time") for form in ("png", "svg")
    ]
    for file in figures:
        assert (again.parent / "figures" / file.name).read_bytes() == file.read_bytes()


@pytest.fixture
def in_one_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at is the page, and not the PNG files beside it."""
    monkeypatch.setattr(page_module, "png_of", lambda *_: b"")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("data", "sections", "figures"),
    [
        (Report(), [], []),
        (
            Report(measurement=measurement()),
            ["machine", "rests"],
            ["detours", "detour-lengths", "network"],
        ),
        (Report(trace=trace()), ["program", "rests"], ["communication", "time", "computation"]),
        (
            Report(trace=trace(), prediction=prediction()),
            ["program", "prediction", "rests"],
            ["communication", "time", "computation", "prediction"],
        ),
        (Report(study=study()), ["scale", "rests"], ["slowdown", "run-time"]),
    ],
)
def test_what_was_not_measured_is_left_out(data: Report, sections: list[str], figures: list[str], tmp_path: Path):
    text = build(data, tmp_path).read_text(encoding="utf-8")
    assert re.findall(r'<section id="(\w+)"', text) == [*sections, "environment"]
    assert re.findall(r'<figure id="figure-([\w-]+)"', text) == figures
    assert not Page(text).open


@pytest.mark.long
@pytest.mark.usefixtures("in_one_format")
def test_a_run_with_no_noise_and_no_messages_makes_a_whole_page(tmp_path: Path):
    data = Report("quiet", measurement(no_noise()), quiet_trace(), prediction(), study())
    text = build(data, tmp_path).read_text(encoding="utf-8")
    assert re.findall(r'<figure id="figure-([\w-]+)"', text) == list(ALL)
    assert ">nan" not in text


@pytest.mark.usefixtures("in_one_format")
def test_names_from_outside_cannot_add_markup(tmp_path: Path):
    evil = "<script>alert(1)</script>"
    time = trace().time().replace("waiting for requests", f"a<b>&{evil}")
    totals = trace().totals().replace("MPI_Barrier", evil)
    traced = trace(command=f"mpiexec ./a {evil}", time=time, totals=totals)
    noted = Consistency(notes=[evil])
    data = Report(evil, None, traced, prediction(), study(), noted)
    parsed = Page(build(data, tmp_path).read_text(encoding="utf-8"))
    assert "script" not in parsed.tags


def test_percentages_and_microseconds_are_spelled_one_way(page: Path):
    said = re.sub(r"<style.*?</style>|<svg.*?</svg>|<[^>]*>", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert "\u202f%" in said
    assert not re.findall(r".{20}\d ?%.{5}|.{20}\d ?us\b|.{20}\dµs", said)


@pytest.mark.usefixtures("undrawn")
def test_progress_is_told_figure_by_figure(tmp_path: Path):
    told: list[str] = []
    build(Report(study=study()), tmp_path, on_figure=told.append)
    assert told == ["slowdown", "run-time"]


@pytest.mark.long
@pytest.mark.usefixtures("in_one_format")
def test_a_page_of_a_million_detours_stays_small(tmp_path: Path):
    data = noise(cores=2, seconds=700.0)
    assert len(data.detours) > 350_000
    assert build(Report(measurement=measurement(data)), tmp_path).stat().st_size < 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1200, 5800), pytest.param(500, 6200, marks=pytest.mark.long)])
def test_a_browser_shows_the_page_and_reports_no_error(
    page: Path, chromium: str, width: int, height: int, tmp_path: Path
):
    check_in_browser(chromium, page, width, height, tmp_path)

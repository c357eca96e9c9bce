"""The sections on what varies: a recording over time and a table of contention whose truth is known."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from browser_pages import check_in_browser
from command_runs import run_command
from contention_tables import contention_table
from idlewave.contention.analysis import ContentionAnalysis, read_analysis, same_table, with_forests
from idlewave.contention.evaluation import learn
from idlewave.contention.findings import contention_findings, impact_sentence
from idlewave.contention.forest import ForestSettings
from idlewave.contention.table_folder import TableFolder
from idlewave.errors import InputError
from idlewave.formatting import plain
from idlewave.measure import describe
from idlewave.measure.overtime.recording import read_overtime
from idlewave.overtime.analysis import Analysis
from idlewave.report import Report, build, findings, report_of
from idlewave.report.caveats import caveats
from idlewave.report.contention_section import contention_section
from idlewave.report.places import source_of_recording
from idlewave.report.variability_findings import overtime_sentence
from overtime_recordings import recording_table, write_recording
from report_samples import ENVIRONMENT, measurement

TRUTH = {"steps": {"latency": [(60, 1.6)]}, "driven": [("allreduce", 1, 0.1)], "counters": 2}
HERE = {"environment": {"host": "node-17", "processor": ENVIRONMENT["processor"], "affinity": [0, 1, 2, 3]}}
FEW_TREES = ForestSettings(trees=10)


def slowdown(victim: str, rate: float, cores: int) -> float:
    """cg suffers, on its own core more than otherwise; the stencil does not."""
    return 1.0 if victim == "stencil" else 1 + (2 if cores == 0 else 1) * rate / 8e9


def write_table(folder: Path, table: pd.DataFrame, said: dict[str, object] | None = None) -> Path:
    """Write a table as `idlewave contention measure` does."""
    place = TableFolder(folder, {"pairs": 6})
    place.describe(HERE if said is None else said)
    for (run, pair, traffic), rows in table.groupby(["run", "pair", "traffic"]):
        kind = "quiet" if traffic == "none" else "traffic"
        rows.to_parquet(folder / "runs" / f"run-{run:03}-pair-{pair:06}-{kind}.parquet", index=False)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """recording/ over time, impact/ of contention, remedy/, and model.skops that was trained on impact/."""
    place = tmp_path_factory.mktemp("variability")
    write_recording(place / "recording", recording_table(120, **TRUTH), hosts=["node-17", "node-17"], **HERE)  # type: ignore[arg-type]
    table = contention_table(slowdown, victims=("cg", "stencil"), rates=(2e9, 4e9), iterations=8)
    write_table(place / "impact", table)
    write_table(place / "remedy", contention_table(slowdown, cores=(0, 1), iterations=8))
    learn(table, FEW_TREES)[0].save(place / "model.skops")
    return place


@pytest.fixture(scope="module")
def overtime(folder: Path) -> Analysis:
    return Analysis(read_overtime(folder / "recording"))


@pytest.fixture(scope="module")
def contention(folder: Path) -> ContentionAnalysis:
    return read_analysis(folder / "impact", remedy=folder / "remedy", settings=FEW_TREES)


@pytest.fixture(scope="module")
def report(overtime: Analysis, contention: ContentionAnalysis) -> Report:
    return report_of(measurement(), None, None, None, overtime=overtime, contention=contention)


def test_each_has_a_sentence_at_the_top_which_says_what_was_planted(report: Report) -> None:
    said = {topic: plain(text) for topic, text in findings(report).items()}
    assert list(said) == ["machine", "overtime", "contention", "remedies", "detection"]
    assert re.match(
        r"In 11\.9 min nine tenths of the phases had latency \(8 B\) of 1\.9\d µs to 3\.\d+ µs \(1 change of level\)",
        said["overtime"],
    )
    assert "bandwidth (1 MiB) of 7." in said["overtime"]
    assert "(no change of level)" in said["overtime"]
    assert re.search(
        r"the counter net\.stalls goes best with performance \(\+0\.9\d with allreduce, 8 B, 1 phase before\)",
        said["overtime"],
    )
    assert re.match(
        r"Emulated traffic into memory of up to 4 GB/s slows cg: at 4 GB/s from 1 core an iteration takes "
        r"1\.(49|50)\d \(1\.\d+ to 1\.\d+\) times as long \(cg\); no slowdown was found for "
        r"stencil \(over all settings .\d.* % \(-.* % to \+.* %\)\)\.",
        said["contention"],
    )
    assert said["remedies"].startswith("With traffic beside cg: reserving one of 4 cores beats throttling")
    assert re.match(
        r"Random forests classify these shares of iterations .* of cg and .* of stencil \(no slowdown found\); the "
        r"more frequent class has 50 %\.",
        said["detection"],
    )


@pytest.mark.usefixtures("undrawn")
def test_sections_have_all_figures_and_tables_in_the_order_of_their_numbers(report: Report, tmp_path: Path) -> None:
    page = build(report, tmp_path).read_text(encoding="utf-8")
    assert re.findall(r'<section id="(\w+)"', page) == [
        "machine",
        "overtime",
        "contention",
        "rests",
        "provenance",
        "environment",
    ]
    names = re.findall(r'<figure id="figure-([\w-]+)"', page)
    assert names[-9:] == [
        "overtime-series", "overtime-hours", "overtime-correlations", "overtime-predictions",
        "contention-impact", "contention-correlations", "contention-remedies",
        "detector-scores", "detector-importances",
    ]  # fmt: skip
    assert re.findall(r"<b>Figure (\d+)\.</b>", page) == [str(number + 1) for number in range(len(names))]
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == set(names)
    of_contention = page.partition('<section id="contention"')[2].partition("</section>")[0]
    for words in ("0.912", "−0.04", "0.998 (HPCCG)", "0.741 (CNS)", "out of bag", "table IV"):
        assert words in of_contention, words
    assert ">nan" not in page
    of_contention = re.sub(r"<svg.*?</svg>|<[^>]*>", " ", of_contention, flags=re.DOTALL)
    assert not re.findall(r".{20}\d ?%.{5}", of_contention), "percent signs have narrow spaces"


@pytest.mark.long
def test_the_page_of_a_recording_alone_is_the_section_of_the_report(
    report: Report, folder: Path, tmp_path: Path
) -> None:
    ended = run_command(["overtime", "report", str(folder / "recording")], tmp_path)
    assert ended.status == 0, ended.complained
    alone = (tmp_path / "overtime.html").read_text(encoding="utf-8")
    whole = build(report, tmp_path / "r").read_text(encoding="utf-8")
    section = whole.partition('<section id="overtime"')[2].partition("</section>")[0]
    tables = re.findall(r"<table>.*?</table>", alone, re.DOTALL)
    assert len(tables) == 5
    for table in tables:
        assert table in section
    for topic, text in report.sections[0].findings:
        assert f"<dt>{topic}</dt>" in section
        assert f"<dt>{topic}</dt>" in alone
        assert text.split("'")[0] in section


def test_what_is_not_beyond_chance_is_not_claimed() -> None:
    quiet = contention_table(lambda *_: 1.0, victims=("cg", "lj"), rates=(1e9,), iterations=8, seed=3)
    sentence = plain(impact_sentence(ContentionAnalysis("t", quiet)))
    assert re.fullmatch(
        r"No slowdown by emulated traffic into memory of up to 1 GB/s was found for cg \(over all settings "
        r"[-+]0\.\d+ % \(-\d\.\d+ % to \+\d\.\d+ %\)\) and lj \(.*\)\.",
        sentence,
    )
    few = contention_table(lambda *_: 1.5, rates=(2e9,), pairs=2)
    assert plain(impact_sentence(ContentionAnalysis("t", few))) == (
        "Whether emulated traffic into memory of up to 2 GB/s slows cg is not certain after so few pairs of runs."
    )


def test_a_victim_that_suffers_by_chance_among_several_is_not_claimed() -> None:
    """p is 1/32 with five pairs that are all slower: too much for one of three victims."""
    table = contention_table(
        lambda victim, *_: 1.2 if victim == "cg" else 1.0, victims=("cg", "lj", "stencil"), rates=(1e9,), pairs=5
    )
    found = ContentionAnalysis("t", table)
    assert found.suffering.set_index("victim").loc["cg", "verdict"] == "suffers"
    assert "whether it slows cg is not certain after correction for 3 victims" in plain(impact_sentence(found))


def test_a_recording_without_counters_and_with_few_phases_claims_nothing_about_them() -> None:
    from idlewave.measure.overtime.recording import OvertimeRecording

    table = recording_table(10)
    found = Analysis(OvertimeRecording("r", table.drop(columns="counter.net.stalls")))
    sentence = overtime_sentence(found)
    assert "counter" not in sentence
    assert "predicts" not in sentence
    assert overtime_sentence(Analysis(OvertimeRecording("r", table[table["test"] == "idle"]))) == ""


def test_of_several_pairs_of_ranks_the_one_that_varied_most_is_said() -> None:
    from idlewave.measure.overtime.recording import OvertimeRecording

    table = recording_table(60, scatter=0.01)
    other = recording_table(60, scatter=0.2, seed=2)
    other = other[other["test"] == "latency"].assign(rank=2, peer=3)
    found = Analysis(OvertimeRecording("r", pd.concat([table, other]).sort_values("phase", kind="stable")))
    assert "latency (8 B) between ranks 2 and 3, of 2 pairs the one that varied most," in plain(
        overtime_sentence(found)
    )


def test_the_model_of_a_file_is_shown_and_nothing_is_trained(folder: Path) -> None:
    found = read_analysis(folder / "impact", detector=folder / "model.skops")
    assert found.evaluation is None
    data = report_of(None, None, None, None, contention=found)
    assert re.match(r"The model .*model\.skops classified .* when it was trained\.", findings(data)["detection"])
    captions = [table.caption for table in contention_section(found).tables]
    assert any("shares in what the decisions of its trees lower the impurity by" in caption for caption in captions)
    assert not any("another table" in caveat.text for caveat in caveats(data))
    assert any(source.name.endswith("model.skops") and source.digests for source in data.provenance.sources)  # type: ignore[union-attr]


def test_a_model_of_another_table_is_said_to_be_one(folder: Path) -> None:
    found = read_analysis(folder / "remedy", detector=folder / "model.skops")
    assert any("was trained on another table" in text for _, text in contention_section(found).rests)


@pytest.mark.long
def test_a_model_of_a_table_with_the_same_victims_and_counts_is_of_another(folder: Path) -> None:
    found = read_analysis(folder / "impact", detector=folder / "model.skops")
    changed = replace(found, table=found.table.assign(seconds=found.table["seconds"] * 1.01))
    assert same_table(found, found.known.detector)
    assert not same_table(changed, found.known.detector)


@pytest.mark.long
def test_a_table_in_a_file_is_analysed_as_that_in_a_folder(folder: Path, tmp_path: Path) -> None:
    found = read_analysis(folder / "impact", train=False)
    found.table.to_parquet(tmp_path / "table.parquet")
    alone = read_analysis(tmp_path / "table.parquet", train=False)
    pd.testing.assert_frame_equal(alone.table, found.table)
    assert alone.environment == {}
    words = ["report", "--contention", "table.parquet", "--detector", str(folder / "model.skops"), "-o", "out"]
    ended = run_command(words, tmp_path)
    assert ended.status == 0, ended.complained


def test_a_model_that_was_changed_is_refused_by_its_name(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "m.skops").write_bytes(b"no model")
    with pytest.raises(InputError, match=r"m\.skops: cannot be read as a model of contention"):
        read_analysis(folder / "impact", detector=tmp_path / "m.skops")


@pytest.mark.long
def test_without_scikit_learn_the_section_has_no_detector_and_says_why(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sklearn", "sklearn.ensemble"):
        monkeypatch.setitem(sys.modules, name, None)
    for options in ({}, {"detector": folder / "model.skops"}):
        found = read_analysis(folder / "impact", **options)  # type: ignore[arg-type]
        data = report_of(None, None, None, None, contention=found)
        assert "detection" not in findings(data)
        assert "There is no detector" in dict(contention_findings(found))["detection"]
        assert "idlewave[contention]" in dict(contention_findings(found))["detection"]
    page = build(data, tmp_path).read_text(encoding="utf-8")
    assert "There is no detector" in page
    assert "contention-impact" in page
    assert "detector-scores" not in page


def test_a_table_without_pairs_enough_to_hold_one_out_has_no_detector_and_says_why() -> None:
    table = contention_table(slowdown, pairs=1, rates=(4e9,))
    found = with_forests(ContentionAnalysis("t", table), FEW_TREES)
    assert "expected at least two pairs of runs" in found.missing


def test_remedies_come_from_the_table_itself_if_it_has_both_kinds(folder: Path) -> None:
    found = read_analysis(folder / "remedy", train=False)
    assert [remedies.victim for remedies in found.remedies] == ["cg"]
    assert found.remedies[0].node_cores == 4
    unknown = replace(found, environment={})
    assert not unknown.remedies
    assert any("is not known that the node has two usable cores" in note for note in unknown.notes)
    assert not read_analysis(folder / "impact", train=False).remedies


def places(processor: str, host: str) -> dict[str, object]:
    return {"environment": {**HERE["environment"], "processor": processor, "host": host}}


def test_a_recording_of_another_processor_is_refused_and_said_if_mixed_parts_are_allowed(tmp_path: Path) -> None:
    place = write_recording(tmp_path / "r", recording_table(40), **places("another CPU", "node-17"))
    found = Analysis(read_overtime(place))
    said = f"{place} was recorded on the processor 'another CPU', two cores on '2 × Xeon at 2.5 GHz'"
    with pytest.raises(InputError, match="do not belong together") as refused:
        report_of(measurement(), None, None, None, overtime=found)
    assert said in str(refused.value)
    data = report_of(measurement(), None, None, None, overtime=found, allow_mixed=True)
    assert said in findings(data)["overtime"]


def test_tables_of_contention_and_remedies_are_compared_with_each_other(tmp_path: Path) -> None:
    table = contention_table(slowdown, cores=(0, 1), rates=(4e9,), iterations=4)
    write_table(tmp_path / "a", table)
    write_table(tmp_path / "b", table, places("another CPU", "node-17"))
    found = read_analysis(tmp_path / "a", remedy=tmp_path / "b", train=False)
    with pytest.raises(InputError, match="do not belong together") as refused:
        report_of(None, None, None, None, contention=found)
    assert f"{tmp_path / 'b'} was recorded on the processor 'another CPU'" in str(refused.value)


def test_another_host_with_the_same_processor_is_accepted_and_noted(tmp_path: Path) -> None:
    table = contention_table(slowdown, rates=(4e9,), iterations=4)
    write_table(tmp_path / "t", table, places(str(ENVIRONMENT["processor"]), "node-99"))
    data = report_of(measurement(), None, None, None, contention=read_analysis(tmp_path / "t", train=False))
    assert data.consistency.sentences() == []
    assert any("t was recorded on node-99, two cores on node-17" in note for note in data.notes)


def test_a_recording_that_does_not_say_where_it_was_made_is_accepted(overtime: Analysis) -> None:
    bare = Analysis(replace(overtime.recording, said={}))
    assert report_of(measurement(), None, None, None, overtime=bare).consistency.sentences() == []


def test_provenance_has_all_files_with_the_digests_of_what_was_read(report: Report, overtime: Analysis) -> None:
    sources = {Path(source.name).name: source for source in report.provenance.sources}  # type: ignore[union-attr]
    assert {"recording", "impact", "remedy"} <= set(sources)
    assert all(sources[name].digests["content"].startswith("sha256:") for name in ("recording", "impact", "remedy"))
    table = overtime.recording.table.copy()
    table.loc[2, "value"] *= 2
    other = source_of_recording(Analysis(replace(overtime.recording, table=table)))
    assert other.digests != sources["recording"].digests


def test_names_of_victims_from_a_file_cannot_add_markup_or_name_files(tmp_path: Path) -> None:
    evil = "../<script>alert(1)</script>"
    table = contention_table(lambda *_: 1.5, victims=(evil,), rates=(4e9,), cores=(0, 1), iterations=4)
    write_table(tmp_path / "t", table)
    page = build(
        report_of(None, None, None, None, contention=read_analysis(tmp_path / "t", train=False)), tmp_path / "r"
    )
    assert "<script" not in page.read_text(encoding="utf-8")
    assert {file.name for file in tmp_path.iterdir()} == {"t", "r"}


def test_the_command_joins_all_and_its_json_has_the_sentences(folder: Path, tmp_path: Path) -> None:
    words = ["report", "--overtime", str(folder / "recording"), "--contention", str(folder / "impact")]
    words += ["--remedy", str(folder / "remedy"), "--detector", str(folder / "model.skops"), "-o", "out", "--json"]
    ended = run_command(words, tmp_path)
    assert ended.status == 0, ended.complained
    said = json.loads(ended.printed)
    assert list(said["findings"]) == ["overtime", "contention", "remedies", "detection"]
    assert (tmp_path / "out" / "figures" / "contention-impact.png").stat().st_size > 10_000
    provenance = idlewave.Provenance.read(tmp_path / "out")
    assert provenance is not None
    assert {Path(source.name).name for source in provenance.sources} == {"recording", "impact", "remedy", "model.skops"}


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        (["--remedy", "{remedy}"], 2, "expected at least one of --machine"),
        (["-t", "{trace}", "--remedy", "{remedy}"], 2, "--remedy belongs to a table of contention"),
        (["--contention", "{recording}"], 1, "expected the table of contention"),
        (["--overtime", "{impact}"], 1, "overtime.json"),
        (["--contention", "{broken}"], 1, "run-000-pair-000000-quiet.parquet"),
        (["--contention", "{halves}"], 1, "expected at least one pair of runs"),
    ],
)
def test_bad_input_ends_with_one_line_that_names_it(
    folder: Path, words: list[str], status: int, expected: str, tmp_path: Path, material: dict[str, str]
) -> None:
    shutil.copytree(folder / "impact", tmp_path / "broken")
    (tmp_path / "broken" / "runs" / "run-000-pair-000000-quiet.parquet").write_bytes(b"PAR1 no")
    shutil.copytree(folder / "impact", tmp_path / "halves")
    for file in (tmp_path / "halves" / "runs").glob("*-traffic.parquet"):
        file.unlink()
    places = {name: folder / name for name in ("recording", "impact", "remedy")}
    places |= {"broken": tmp_path / "broken", "halves": tmp_path / "halves", "trace": Path(material["trace"])}
    ended = run_command(["report", *(word.format(**places) for word in words), "-o", "out"], tmp_path)
    assert ended.status == status
    assert expected in ended.complained
    assert "Traceback" not in ended.complained
    assert not (tmp_path / "out").exists()


def test_where_it_was_measured_comes_from_what_there_is(folder: Path) -> None:
    environment = describe()
    found = replace(read_analysis(folder / "impact", train=False), environment=environment)
    assert report_of(None, None, None, None, contention=found).environment["kernel"] == environment["kernel"]


@pytest.mark.long
@pytest.mark.parametrize(("width", "height"), [(1280, 9000), (500, 12_000)])
def test_a_browser_shows_the_sections_and_reports_no_error(
    report: Report, chromium: str, width: int, height: int, tmp_path: Path
) -> None:
    page = build(replace(report, measurement=None), tmp_path / "r")
    check_in_browser(chromium, page, width, height, tmp_path)


def test_a_table_in_which_nothing_was_sampled_and_one_of_one_pair_make_whole_sections(tmp_path: Path) -> None:
    bare = contention_table(slowdown, rates=(4e9,), pairs=1, iterations=4)
    bare[[name for name in bare.columns if name.startswith("probe.")]] = float("nan")
    found = with_forests(ContentionAnalysis("t", bare), FEW_TREES)
    said = dict(contention_findings(found))
    assert re.search(
        r"Over 1 pair of all settings: \+[45]\d %, p = 0\.5 \(one-sided\): too few pairs to say", plain(said["cg"])
    )
    assert "expected counters or probes" in said["detection"]
    assert "correlations" not in said
    page = build(report_of(None, None, None, None, contention=found), tmp_path).read_text(encoding="utf-8")
    assert re.findall(r'<figure id="figure-([\w-]+)"', page) == ["contention-impact"]
    assert "Neither the processor&#39;s counters nor" in page
    assert not re.search(r"\bnan\b", page)

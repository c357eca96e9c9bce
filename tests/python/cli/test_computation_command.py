"""``idlewave computation``."""

from __future__ import annotations

import json
from pathlib import Path

from command_runs import run
from idlewave import Trace
from trace_files import Message, write_messages


def trace_of(folder: Path) -> Path:
    return write_messages(folder, [Message(1000 + 500 * (i % 3), 3, 8 << i % 3) for i in range(30)])


def test_it_lists_the_sites_with_the_most_time_first(tmp_path: Path) -> None:
    folder = trace_of(tmp_path / "trace")
    table = Trace.load(folder).computation_sites()
    shown = run("computation", str(folder), "--rows", "4")
    assert shown.returncode == 0, shown.stderr
    assert f"60 computations of {len(table)} call sites: 90 µs of all ranks' time" in shown.stdout
    names = [line.split("│")[1].strip() for line in shown.stdout.splitlines() if line.startswith("│")]
    assert names == table["site"].head(4).tolist()
    assert f"and {len(table) - 4} rows more with" in shown.stdout


def test_json_has_all_columns_of_all_sites(tmp_path: Path) -> None:
    folder = trace_of(tmp_path / "trace")
    for by_rank in (False, True):
        said = run("computation", str(folder), "--json", *(["--by-rank"] if by_rank else []))
        sites = json.loads(said.stdout)["sites"]
        table = Trace.load(folder).computation_sites(by_rank=by_rank)
        assert [site["site"] for site in sites] == table["site"].tolist()
        assert set(sites[0]) == set(table.columns)
        assert sites[0]["level"] is None
        assert sites[0]["median_ns"] == table["median_ns"][0]


def test_it_draws_the_distributions(tmp_path: Path) -> None:
    folder, picture = trace_of(tmp_path / "trace"), tmp_path / "sites.svg"
    assert run("computation", str(folder), "--plot", str(picture), "--by-rank").returncode == 0
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    said = run("computation", str(tmp_path))
    assert said.returncode != 0
    assert "error:" in said.stderr

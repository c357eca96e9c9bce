"""Models on the kernel give one answer, however they are run, and what cannot be run is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from idlewave import kernel, pdes
from idlewave.cli import pdes_commands as commands
from idlewave.errors import InputError, UsageError
from idlewave.pdes import plots
from long_cases import most_long
from matplotlib.figure import Figure
from pdes_support import LONG, SMALL, outcome, run
from tracer_support import open_mpi

pytestmark = pytest.mark.slow


def test_the_schedulers_and_threads_give_one_answer() -> None:
    alone = outcome(pdes.phold(**SMALL))
    for scheduler in ("yawns", "timewarp"):
        for threads in (1, 2, 3):
            assert outcome(pdes.phold(**SMALL, scheduler=scheduler, threads=threads)) == alone
    assert outcome(pdes.phold(**SMALL, scheduler="timewarp", threads=2, lazy=True)) == alone
    assert outcome(pdes.phold(**SMALL, scheduler="timewarp", threads=3, placement="cyclic")) == alone
    assert outcome(pdes.phold(**SMALL, scheduler="check")) == alone
    for share in (0.3, 1.0):
        assert outcome(pdes.phold(**SMALL, scheduler="timewarp", threads=2, conservative=share)) == alone


def test_without_a_lookahead_sequential_and_time_warp_give_one_answer() -> None:
    alone = outcome(pdes.phold(**SMALL, lookahead=0))
    assert outcome(pdes.phold(**SMALL, lookahead=0, scheduler="timewarp", threads=2)) == alone
    assert outcome(pdes.phold(**SMALL, lookahead=0, scheduler="check")) == alone
    with pytest.raises(InputError, match="yawns needs a lookahead"):
        pdes.phold(**SMALL, lookahead=0, scheduler="yawns")
    with pytest.raises(InputError, match="conservative LPs need a lookahead"):
        pdes.phold(**SMALL, lookahead=0, scheduler="timewarp", conservative=0.5)


def test_another_seed_is_another_run() -> None:
    assert pdes.phold(**SMALL).digest != pdes.phold(**SMALL, seed=2).digest


def test_events_are_as_many_as_their_delays_say() -> None:
    # Each of 32,000 events is a renewal process, whose delays have mean 1 and variance 0.81 (W. Feller, 1966, XI.4).
    found = pdes.phold(lps=2000, end=40.0)
    expected = 32_000 * (40 - (1 - 0.81) / 2)
    assert abs(found.committed - expected) < 6 * (32_000 * 40 * 0.81) ** 0.5


@pytest.mark.parametrize("scheduler", ["yawns", "timewarp"])
def test_an_event_is_remote_if_it_goes_to_another_partition(scheduler: str) -> None:
    # Windows of so few events are executed by one thread: that changes nothing.
    few: dict[str, Any] = {"lps": 200, "end": 40.0, "scheduler": scheduler, "threads": 2}
    assert pdes.phold(**few, remote=0.0).remote_events == 0
    to_any = pdes.phold(**few, remote=1.0)
    assert to_any.remote_events > 0.4 * to_any.committed, "one in two"


def test_lps_are_placed_as_a_file_says(tmp_path: Path) -> None:
    table = tmp_path / "placement"
    table.write_text("\n".join(str(lp * lp % 2) for lp in range(300)))
    command = ["phold", "--lps", "300", "--end", "8", "--remote", "0.3", "--scheduler", "timewarp", "--threads", "2"]
    placed = run(*command, "--placement", str(table), "--json")
    assert placed.returncode == 0, placed.stderr
    assert json.loads(placed.stdout)["digest"] == pdes.phold(**SMALL).digest
    for text, status, expected in (
        ("0\n1\n", 1, "the placement is of 2 LPs"),
        ("1\n3\n", 2, "LP 1 on partition 3, and there are 2"),
        ("-1\n", 2, "placement:1: expected whole numbers from 0 to 4294967295, found '-1'"),
    ):
        table.write_text(text)
        refused = run(*command, "--placement", str(table))
        assert (refused.returncode, expected in refused.stderr) == (status, True), refused.stderr
    assert "expected block, cyclic, graph, or a file" in run(*command, "--placement", "nowhere").stderr


@pytest.mark.parametrize("way", [{"threads": 2}, {"processes": 2}])
def test_lps_move_and_the_answer_stays(way: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    open_mpi()
    monkeypatch.setattr(kernel, "MIGRATE_AFTER", 2000)
    quiet: dict[str, Any] = {"bots": 30, "hosts": 300, "routers": 16, "end": 2.0, "attack_gap": 5e-5}
    moved = pdes.flood(**quiet, scheduler="yawns", migrate=True, **way)
    assert moved.run.segments > 1
    assert outcome(moved.run) == outcome(pdes.flood(**quiet).run)


def test_statistics_are_written_with_samples_over_time(tmp_path: Path) -> None:
    files = {"--statistics": tmp_path / "counts.json", "--plot": tmp_path / "run.png"}
    written = [word for option, path in files.items() for word in (option, str(path))]
    done = run(*LONG, "--end", "20", "--scheduler", "timewarp", "--threads", "2", *written)
    assert done.returncode == 0, done.stderr
    counts = json.loads(files["--statistics"].read_text())
    assert counts["committed"] == json.loads(done.stdout)["committed"]
    series = pd.DataFrame(counts["series"])
    assert len(series) > 10
    for column in ("seconds", "gvt", "committed", "rolled_back"):
        assert series[column].is_monotonic_increasing
    assert series["committed"].iloc[-1] <= counts["committed"]
    assert files["--plot"].read_bytes().startswith(b"\x89PNG")
    refused = run("phold", "--statistics", str(files["--plot"] / "a.json"))
    assert refused.returncode == 1
    assert "run.png is not a directory" in refused.stderr
    assert json.loads(run("phold", "--end", "0", "--json").stdout)["warp"] is None


@pytest.mark.parametrize(
    "manner", [{"scheduler": "timewarp", "threads": 2}, {"scheduler": "yawns", "processes": 2}, {"scheduler": "check"}]
)
def test_the_other_models_too_give_one_answer(manner: dict[str, Any]) -> None:
    open_mpi()
    epidemic, flood = {"persons": 3000, "days": 60}, {"hosts": 100, "bots": 20, "routers": 8}
    for one, other in (
        (pdes.epidemic(**epidemic), pdes.epidemic(**epidemic, **manner)),
        (pdes.flood(**flood), pdes.flood(**flood, **manner)),
    ):
        assert outcome(one.run) == outcome(other.run)
        assert replace(one, run=other.run) == other


def test_interventions_save_people_from_being_infected() -> None:
    none = pdes.epidemic(persons=20_000)
    some = pdes.epidemic(persons=20_000, isolated=0.5, isolated_after=1, workplaces_close=20)
    vaccine = pdes.epidemic(persons=20_000, isolated=0.5, isolated_after=1, workplaces_close=20, vaccinated=0.3)
    assert none.attack_rate > 2 * some.attack_rate > 2 * vaccine.attack_rate
    table = none.to_pandas()
    assert (table.drop(columns="day").sum(axis=1) == 20_000).all()
    assert len(table) == 181


def test_an_attack_takes_legitimate_packets_with_it() -> None:
    quiet, attacked = (pdes.flood(bots=bots, measured_from=0.5) for bots in (0, 128))
    assert quiet.legitimate.share_lost == 0
    assert quiet.attack.sent == 0
    assert attacked.legitimate.share_lost > 0.3
    assert attacked.legitimate.mean_delay > quiet.legitimate.mean_delay
    assert attacked.legitimate.sent == attacked.legitimate.delivered + attacked.legitimate.lost


@pytest.mark.parametrize("model", most_long(["epidemic", "flood"], 1))
def test_the_commands_draw_what_they_found(model: str, tmp_path: Path) -> None:
    small = {"epidemic": ["--persons", "1e3", "--days", "30"], "flood": ["--hosts", "50", "--bots", "8"]}[model]
    done = run(model, *small, "--plot", str(tmp_path / "a.png"), "--plot-runs", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["committed"] > 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    refused = run(model, *small, "--plot", str(tmp_path / "a.txt"))
    assert refused.returncode == 2
    assert "expected a name that ends with .png" in refused.stderr


def test_a_picture_of_an_attack_shows_packets_that_are_sent_while_it_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[pd.DataFrame] = []

    def keep(floods: pd.DataFrame) -> Figure:
        drawn.append(floods)
        return Figure()

    monkeypatch.setattr(plots, "plot_flood", keep)
    attack = ["--hosts", "50", "--bots", "8", "--attack-from", "0.5", "--attack-until", "0.6", "--buffer", "8"]
    arguments = [*attack, "--plot", str(tmp_path / "a.png"), "--plot-runs", "2"]
    done = CliRunner().invoke(commands.pdes, ["flood", *arguments])
    assert done.exit_code == 0, done.output
    losses = drawn[0].groupby("bots")["lost"]
    assert (losses.count() == 2).all()
    assert losses.min().loc[0] == 0
    assert losses.min().loc[8] > 0.15  # of packets of the other half second too it would be a fifth as many


@pytest.mark.parametrize(
    ("model", "arguments", "expected"),
    [
        ("epidemic", {"workplaces_close": 5, "workplaces_reopen": 4}, "workplaces_close"),
        ("epidemic", {"first_infectious": 10**6}, "first_infectious"),
        ("flood", {"bots": 2000}, "bots"),
        ("flood", {"routers": 0}, "routers"),
    ],
)
def test_what_a_model_cannot_be_is_said_with_the_parameters_name(
    model: str, arguments: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InputError, match=expected):
        getattr(pdes, model)(**arguments)


def test_a_load_of_nothing_is_refused_as_out_of_range() -> None:
    with pytest.raises(UsageError, match="expected utilization above 0 to "):
        pdes.flood(utilization=0.0)
    assert "0.0 is not in the range 0<x<=" in run("flood", "--utilization", "0").stderr


def test_what_a_process_cannot_do_is_said_by_the_run() -> None:
    open_mpi()
    with pytest.raises(InputError, match="yawns needs a lookahead"):
        pdes.phold(**SMALL, lookahead=0, scheduler="yawns", processes=2)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"lps": 0}, "expected lps from 1 to 4294967294, found 0"),
        ({"remote": 1.5}, "expected remote from 0 to 1, found 1.5"),
        ({"remote": float("nan")}, "expected remote from 0 to 1, found nan"),
        ({"mean": -1.0}, "expected mean from 0"),
        ({"end": float("inf")}, "expected end from 0"),
        ({"mean": 0.0, "lookahead": 0.0}, "or more: else time never passes"),
        ({"scheduler": "optimistic"}, "no scheduler is called 'optimistic'"),
        ({"threads": 2}, "sequential runs on one thread"),
        ({"processes": 2}, "sequential runs in one process"),
        ({"lps": 1.5}, "expected lps to be a whole number, found '1.5'"),
        ({"start_events": -1}, "expected start_events from 0 to 1048576, found -1"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        pdes.phold(**arguments)
    assert expected in str(caught.value)


def test_a_value_out_of_range_is_refused_with_the_name_of_the_parameter() -> None:
    with pytest.raises(UsageError, match="expected transmission from 0 to 1, found 2"):
        pdes.epidemic(transmission=2.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'transmision'"):
        pdes.epidemic(transmision=0.1)  # type: ignore[call-arg]


def test_the_command_prints_the_json_of_the_contract() -> None:
    arguments = ("--lps", "1e3", "--start-events", "16", "--remote", "0.1", "--mean", "0.9", "--lookahead", "0.1")
    done = run("phold", *arguments, "--end", "5", "--scheduler", "timewarp", "--threads", "2", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"committed", "rolled_back", "seconds", "init_seconds", "digest", "peak_rss_bytes"} <= found.keys()
    assert found["digest"] == pdes.phold(lps=1000, end=5.0).digest


def test_the_command_shows_people_a_table() -> None:
    done = run("phold", "--lps", "100", "--end", "2")
    assert done.returncode == 0, done.stderr
    assert "events committed" in done.stdout
    assert "efficiency (1 - rolled back / committed)" in done.stdout


@pytest.mark.parametrize("lps", ["1.5", "many", "nan"])
def test_the_command_refuses_what_is_no_number_of_lps(lps: str) -> None:
    done = run("phold", "--lps", lps)
    assert done.returncode == 2
    assert "--lps" in done.stderr

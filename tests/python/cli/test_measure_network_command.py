"""`idlewave measure network` on samples that were recorded before: no MPI, no time."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from emulated_samples import emulate
from idlewave.cli import cli
from idlewave.cold_caches import ColdCaches
from idlewave.errors import InputError, MeasurementError, MpiError, UsageError
from idlewave.formatting import plain_time
from idlewave.measure import describe
from idlewave.measure.network import NetworkMeasurement, measure_network, read_measurement, read_samples
from idlewave.measure.network.files.network_files import load_network, measured_level, save_network, where
from idlewave.measure.network.files.network_recording import described
from idlewave.measure.network.fitting.pattern_times import AFTER
from idlewave.measure.network.probing import network_run as probing
from idlewave.measure.network.transports import Transport
from known_networks import RENDEZVOUS
from long_cases import most_long
from pattern_recordings import items, items_after, rows_of, write

NETWORK = RENDEZVOUS["infiniband"]


def record(folder, summary=True):
    """A folder as the probe leaves it."""
    folder.mkdir()
    samples = emulate(NETWORK, seed=1, repetitions=10, new_series=True)
    samples.assign(start_ns=0, disturbed=0).to_csv(folder / "samples.csv", index=False)
    said = {
        "probe": "loggp",
        **described(Transport()),
        "same_node": False,
        "library": "Some MPI 1.0",
        "eager_limit": None,
    }
    if summary:
        (folder / "loggp.json").write_text(
            json.dumps(said | {"ended": "settled", "foreign_load": {"client": [0.3, None]}})
        )
    return folder


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return record(tmp_path_factory.mktemp("probe") / "raw")


@pytest.fixture(scope="module")
def found(recorded):
    """What those samples say."""
    return read_measurement(recorded)


def invoke(*arguments):
    return CliRunner().invoke(cli, ["measure", "network", *map(str, arguments)])


def test_samples_recorded_by_hand_become_a_machine_and_one_json_object(recorded, tmp_path):
    done = invoke("--from", recorded, "--json", "--methods", "-o", tmp_path / "m", "--samples", tmp_path / "s.parquet")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["fit"]["S"] == 12_288
    assert any("Other processes used 30\u202f% of the client's core" in note for note in said["notes"])
    assert {"PRTT", "Culler/Iannello", "Kielmann (pLogP)", "Bell"} == {row["method"] for row in said["methods"]}
    machine = idlewave.Machine.load(tmp_path / "m" / "machine.toml")
    assert machine.network.eager_limit == 12_288
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "s.parquet"), pd.read_parquet(tmp_path / "m" / "network-samples.parquet")
    )


def test_people_get_a_table_of_parameters_and_of_methods(recorded):
    done = invoke("--from", recorded, "--methods")
    assert done.exit_code == 0, done.output
    for words in ("from 12289 B (rendezvous)", "S   12288 B", "o_s", "Kielmann"):
        assert words in done.output


@pytest.mark.parametrize("more", most_long([["--methods"], []], 1))
def test_the_plots_are_written_where_they_were_asked_for(recorded, tmp_path, more):
    assert invoke("--from", recorded, "--plot", tmp_path / "p" / "x.svg", *more).exit_code == 0
    assert {f.name for f in (tmp_path / "p").iterdir()} == {"x.svg", "x-latency.svg"}
    refused = invoke("--from", recorded, "--plot", tmp_path / "x.nothing")
    assert refused.exit_code == 2
    assert "expected a name that ends with" in refused.output


def test_a_run_that_was_killed_is_estimated_from_what_it_wrote(tmp_path):
    folder = record(tmp_path / "raw", summary=False)
    text = (folder / "samples.csv").read_text()
    (folder / "samples.csv").write_text(text[:-20])
    found = read_measurement(folder)
    assert found.fit.S == 12_288
    assert any("The measurement was killed" in note for note in found.notes)


def test_two_measurements_make_one_machine_with_a_network_inside_its_nodes(recorded, tmp_path):
    assert invoke("--from", recorded, "-o", tmp_path / "within").exit_code == 0
    done = invoke("--from", recorded, "-o", tmp_path / "both", "--node", tmp_path / "within", "--node-ranks", 4)
    assert done.exit_code == 0, done.output
    machine = idlewave.Machine.load(tmp_path / "both" / "machine.toml")
    assert machine.node_ranks == 4
    assert machine.node.eager_limit == machine.network.eager_limit == 12_288
    assert machine.node.at(20_000).g == machine.network.at(20_000).g
    remarks = (tmp_path / "both" / "machine.toml").read_text()
    assert [line for line in remarks.splitlines() if line.startswith("# Notes on")] == [
        "# Notes on [network]",
        "# Notes on [network.node]",
    ]
    assert max(map(len, remarks.partition("# Notes on")[2].splitlines())) <= 120
    assert remarks.count("Other processes used 30\u202f% of the client's core") == 2
    assert isinstance(invoke("--from", recorded, "--node", tmp_path / "within").exception, UsageError)


def test_a_measurement_of_a_network_is_read_back_whole(found, tmp_path):
    save_network(tmp_path, found, "x")
    loaded = load_network(tmp_path)
    assert loaded.fit.ranges == found.fit.ranges
    assert (loaded.notes, loaded.transport, loaded.fit.S_bounds) == (found.notes, "mpi", (12_288, 12_288))
    pd.testing.assert_frame_equal(loaded.samples, found.samples)
    pd.testing.assert_frame_equal(loaded.fit.predictions, found.fit.predictions)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("network.json", None, "cannot be read"),
        ("network.json", "{", "network.json"),
        ("network.json", '{"format": 9}', "format: expected 1, found 9"),
        ("network.json", '{"format": 1, "network": {}}', "network.fit: expected a JSON object, found nothing"),
        ("network-samples.parquet", "no table", "samples"),
    ],
)
def test_a_broken_file_of_a_network_is_named(found, tmp_path, file, content, words):
    save_network(tmp_path, found, "x")
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_text(content)
    with pytest.raises(InputError, match=words):
        load_network(tmp_path)


def test_a_folder_without_samples_or_with_something_else_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"samples\.csv: cannot be read"):
        read_measurement(tmp_path)
    (tmp_path / "samples.csv").write_text("series,size\nrtt,many\n")
    with pytest.raises(InputError, match=r"samples\.csv: lacks the columns n, delay_ns"):
        read_measurement(tmp_path)


def test_an_unknown_transport_and_one_host_are_refused_before_anything_runs():
    with pytest.raises(UsageError, match=r"'pigeon' cannot connect .* expected one that needs no MPI, tcp, udp"):
        measure_network(transport="pigeon", connect="a:1")
    with pytest.raises(UsageError, match="expected two hosts, found 1"):
        measure_network(hosts=["alone"])


@pytest.mark.parametrize("content", [None, "{}"])
def test_where_samples_were_recorded_is_never_taken_from_the_machine_that_reads_them(recorded, tmp_path, content):
    folder = Path(shutil.copytree(recorded, tmp_path / "raw"))
    said = json.loads((folder / "loggp.json").read_text())
    (folder / "loggp.json").write_text(json.dumps(said | {"ranks": [{"host": "nid1"}, {"host": "nid2"}]}))
    if content is not None:
        (folder / "environment.json").write_text(content)
    found = read_measurement(folder)
    assert found.environment["host"] == "nid1 and nid2"
    assert {value for name, value in found.environment.items() if name != "host"} == {None}
    text = save_network(tmp_path / "m", found, "x").read_text()
    assert "Measured on nid1 and nid2 (processor not recorded) at a time not recorded, between two nodes" in text
    (folder / "loggp.json").unlink()
    assert "Measured on a host not recorded" in where(read_measurement(folder))
    assert "Measured on a host not recorded" in where(replace(found, environment={}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"eager_limit": "4096"}, "eager_limit: expected a whole number from 0 on, found '4096'"),
        ({"foreign_load": [0.1]}, "foreign_load: expected a JSON object"),
        ({"foreign_load": {"client": 0.1}}, "foreign_load.client: expected a list"),
        ({"traits": None}, "traits: expected those of the transport 'mpi', found nothing"),
        ({"traits": {}}, "traits.needs_mpi: expected true or false, found nothing"),
        ({"ranks": ["a", "b"]}, r"ranks\[0\]: expected a JSON object"),
        ({"dropped_sizes": 5}, "dropped_sizes: expected a list"),
        ({"pages": 4096}, "pages: expected a JSON object"),
        ({"pages": {"size": 4096}}, "pages.start: expected a whole number from 0 on, found nothing"),
        ({"pages": {"size": 0, "start": 0}}, "pages.size: expected a whole number from 1 on, found 0"),
    ],
)
def test_a_summary_of_another_form_is_refused_with_file_and_key(recorded, tmp_path, changes, words):
    folder = Path(shutil.copytree(recorded, tmp_path / "raw"))
    said = json.loads((folder / "loggp.json").read_text())
    (folder / "loggp.json").write_text(json.dumps(said | changes))
    with pytest.raises(InputError, match=rf"loggp\.json: {words}"):
        read_measurement(folder)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("start_ns", "soon", "start_ns: row 1: expected a number, found 'soon'"),
        ("disturbed", "no", "disturbed: row 1: expected a whole number from 0 on, found 'no'"),
        ("value_ns", "nan", "value_ns: row 1: expected a number .*, found nan"),
        ("value_ns", "inf", "value_ns: row 1: expected a number .*, found inf"),
        ("size", "-1", "size: row 1: expected a whole number from 0 .*, found -1"),
    ],
)
def test_samples_that_are_no_numbers_are_refused_with_file_and_column(recorded, tmp_path, column, value, words):
    table = pd.read_csv(recorded / "samples.csv", dtype=str).head(20)
    table.loc[0, column] = value
    table.to_csv(tmp_path / "samples.csv", index=False)
    with pytest.raises(InputError, match=rf"samples\.csv: {words}"):
        read_measurement(tmp_path)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ((), [1], "expected a JSON object, found"),
        (("network", "fit", "ranges"), [], "network.fit.ranges: expected a list of at least one range"),
        (("network", "fit", "ranges", 0, "intervals"), [], r"ranges\[0\].intervals: expected a JSON object"),
        (("network", "fit", "ranges", 0, "intervals", "L"), [1, 2, 3], "intervals.L: expected two numbers in order"),
        (("network", "fit", "ranges", 0, "parameters", "L"), "1", "parameters.L: expected a number"),
        (("network", "fit", "ranges", 0, "colour"), 1, r"ranges\[0\].colour is not known here"),
        (("network", "fit", "notes"), "none", "network.fit.notes: expected a list"),
        (("network", "probe", "eager_limit"), "4096", "network.probe.eager_limit: expected a whole number"),
        (("network", "environment"), None, "network.environment: expected a JSON object"),
    ],
)
def test_a_network_of_another_form_is_refused_with_file_and_key(found, tmp_path, place, value, words):
    save_network(tmp_path, found, "x")
    said = json.loads((tmp_path / "network.json").read_text())
    if place:
        part = said
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
    else:
        said = value
    (tmp_path / "network.json").write_text(json.dumps(said))
    with pytest.raises(InputError, match=rf"network\.json: .*{words}"):
        load_network(tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--from", "{recorded}", "--hosts", "a,b"], "--hosts has no meaning beside it"),
        (["--from", "{recorded}", "--connect", "a:1"], "--connect has no meaning beside it"),
        (["--from", "{recorded}", "--seconds", "5", "--max-size", "64"], "--max-size, --seconds has no meaning"),
        (["--from", "{recorded}", "--transport", "tcp"], "was measured over mpi, not over tcp"),
        (["--hosts", "a,b", "--connect", "a:1", "--transport", "tcp"], "expected one of them"),
        (["--connect", "a:1"], "the transport 'mpi' cannot connect to a probe that waits"),
    ],
)
def test_options_that_would_be_dropped_in_silence_are_refused(recorded, options, words):
    done = invoke(*[option.format(recorded=recorded) for option in options])
    assert isinstance(done.exception, UsageError)
    assert words in str(done.exception)


def test_an_attempt_keeps_nothing_of_what_an_earlier_run_left(recorded, tmp_path, monkeypatch):
    raw = Path(shutil.copytree(recorded, tmp_path / "network-1"))

    def fails(*_):
        raise MeasurementError("killed")

    monkeypatch.setattr(probing, "run_probe", fails)
    monkeypatch.setattr(probing, "_launch", lambda *_: probing._Launch(("probe",), None, None))
    with pytest.raises(MeasurementError, match="killed"):
        measure_network(transport="tcp", folder=tmp_path)
    assert [file.name for file in raw.iterdir()] == ["environment.json"]


def no_mpi():
    raise MpiError("no MPI is here")


def probe_with(transports, folder):
    """A program that says so of itself."""
    program = folder / "idlewave-loggp-local"
    said = [{"name": name, **described(Transport())["traits"]} for name in transports]
    program.write_text(f"#!/bin/sh\necho '{json.dumps(said)}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("transport", ["libfabric", "ucx"])
def test_a_fabric_within_a_node_needs_an_mpi_only_where_the_probe_was_built_without_it(
    transport, tmp_path, monkeypatch
):
    monkeypatch.setattr(probing.mpis, "find", no_mpi)
    program = probe_with(["tcp", transport], tmp_path)
    monkeypatch.setattr(probing, "local_program", lambda: program)
    assert probing._launch(None, transport, (), None).command == (str(program),)
    with pytest.raises(MpiError):
        probing._launch(None, transport, ("one", "other"), None)
    probe_with(["tcp"], tmp_path)
    with pytest.raises(MpiError):
        probing._launch(None, transport, (), None)


@pytest.fixture
def probe_runs(monkeypatch):
    """The folders and seconds of the probe's runs: of each the fit fails, and the second run itself."""
    runs = []

    def runs_once(command, *_):
        runs.append((Path(command[command.index("--output") + 1]).name, float(command[command.index("--seconds") + 1])))
        if len(runs) > 1:
            raise MeasurementError("the probe of network failed: nobody answers")

    def fails(*_, **__):
        raise MeasurementError("g came out negative")

    monkeypatch.setattr(probing, "run_probe", runs_once)
    monkeypatch.setattr(probing, "read_measurement", fails)
    return runs


def test_a_probe_that_fails_later_does_not_hide_why_the_first_fit_failed(probe_runs):
    with pytest.raises(MeasurementError, match=r"^g came out negative; measured anew, the probe of network failed"):
        measure_network(transport="tcp", seconds=2)
    assert probe_runs == [("network-1", 2), ("network-2", 4)]  # what is disturbed shows in more samples what it is


def test_who_waits_on_another_host_serves_one_run_so_a_failed_fit_is_not_measured_anew(probe_runs):
    with pytest.raises(MeasurementError, match=r"^g came out negative$"):
        measure_network(transport="tcp", seconds=2, connect="other:4000")
    assert probe_runs == [("network-1", 2)]


@pytest.mark.long
def test_a_quick_measurement_whose_fit_fails_is_one_run_that_says_so(monkeypatch, tmp_path):
    """No curve of trains is what any parameters give."""
    runs = []

    def disturbed(command, *_):
        raw = Path(command[command.index("--output") + 1])
        runs.append(raw.name)
        samples = emulate(NETWORK, seed=1, repetitions=8)
        samples = samples[samples["size"] <= 4096].reset_index(drop=True)  # fits to what nothing fits take long
        wild = np.random.default_rng(1).uniform(0.05, 20, 1 + samples["size"].max())
        train = samples["series"] == "train"
        samples.loc[train, "value_ns"] *= wild[samples.loc[train, "size"]]
        samples.assign(start_ns=0, disturbed=0).to_csv(raw / "samples.csv", index=False)
        (raw / "loggp.json").write_text(json.dumps({"probe": "loggp", **described(Transport()), "same_node": False}))

    monkeypatch.setattr(probing, "run_probe", disturbed)
    done = invoke("--transport", "tcp", "--quick", "-o", tmp_path / "m")
    assert done.exit_code == 0, done.output
    assert runs == ["network-1"]  # and not two more, for twice and three times as long
    said = " ".join(done.output.split())
    assert re.search(r"By PRTT, (g|L|o_s|o_r) for messages of .* is not determined", said)
    assert "Patterns of messages and collectives were left out" in said
    remarks = (tmp_path / "m" / "machine.toml").read_text().replace("\n#    ", "")
    assert "is not determined" in remarks
    assert "# Patterns of messages and collectives were left out: the parameters are those of PRTT" in remarks
    again = invoke("--from", tmp_path / "m" / "raw" / "network-1", "--quick", "-o", tmp_path / "n")
    assert again.exit_code == 0, again.output
    texts = [(tmp_path / name / "machine.toml").read_text().partition("[network]")[2] for name in ("m", "n")]
    assert texts[0] == texts[1]


def test_the_json_has_the_distribution_of_latency_by_size(recorded):
    said = json.loads(invoke("--from", recorded, "--json").stdout)
    samples = read_samples(recorded / "samples.csv")
    trips = samples[(samples["series"] == "rtt") & (samples["size"] > 0)]
    assert [row["size"] for row in said["latency"]] == sorted(set(trips["size"]))
    first = said["latency"][0]
    assert first["q50_ns"] == pytest.approx(trips[trips["size"] == first["size"]]["value_ns"].median() / 2)


def test_a_transport_without_mpi_says_so_in_the_machine(found, tmp_path):
    tcp = Transport("tcp", needs_mpi=False, rendezvous=False, shared_memory=False)
    alone = NetworkMeasurement(found.samples, found.fit, described(tcp) | {"same_node": True}, describe())
    text = save_network(tmp_path, alone, "x").read_text()
    assert "within one node, over tcp." in text


COLD_CACHES = ColdCaches(((4 * 10**9, 20_000_000),), 10**9, ((1, 0), (1024, 3_000_000), (16384, 30_000_000)))


def record_patterns(folder, hosts=("a", "b")):
    """Two epochs of patterns of a machine that does what the simulator says."""
    level = idlewave.Level(idlewave.Parameters(L=400_000, o_s=60_000, o_r=150_000, g=90_000))
    machine = idlewave.Machine("m", level, cold_caches=COLD_CACHES)
    random = np.random.default_rng(1)
    for epoch in (1, 2):
        measured = [*items((1, 64, 1024, 16384)), *items_after((1, 1024, 16384))]
        rows = rows_of(measured, machine, 1200, random)
        write(folder / f"epoch-{epoch}", rows, ranks=[{"host": host} for host in hosts])


@pytest.fixture
def with_patterns(tmp_path):
    """The recording of an assessment: PRTT, and patterns beside it."""
    prtt = record(tmp_path / "network-1")
    said = json.loads((prtt / "loggp.json").read_text())
    (prtt / "loggp.json").write_text(json.dumps(said | {"ranks": [{"host": "a"}, {"host": "b"}]}))
    record_patterns(tmp_path / "patterns")
    return prtt


def test_patterns_beside_prtt_give_the_parameters_and_a_self_test_that_files_keep(with_patterns, tmp_path):
    done = invoke("--from", with_patterns, "-o", tmp_path / "m", "--plot", tmp_path / "x.png")
    assert done.exit_code == 0, done.output
    assert "fitted to patterns of messages" in done.stdout
    assert "Self-test" in done.stdout
    assert "The simulation is within 5.0 % on" in done.output
    for name in ("x.png", "x-latency.png", "x-patterns.png", "m/network-patterns.parquet"):
        assert (tmp_path / name).exists()
    found = load_network(tmp_path / "m")
    assert found.patterns is not None
    assert found.patterns.epochs == 2
    machine = idlewave.Machine.load(tmp_path / "m" / "machine.toml")
    p = machine.network.parameters
    assert p.L + p.o_s + p.o_r == pytest.approx(610_000, rel=0.02)
    assert machine.network == measured_level(found)
    remarks = (tmp_path / "m" / "machine.toml").read_text()
    lines = remarks[remarks.index("# Self-test: ") :].replace("\n#    ", "")
    table = found.patterns.table
    for (pattern, window, delay_ns), part in table.groupby(["pattern", "window", "delay_ns"]):
        errors = [f"{size}:{error:+.0%}" for size, error in zip(part["size"], part["error"], strict=True)]
        variant = plain_time(delay_ns * 1000) if pattern == AFTER else window
        assert f"# {pattern} {variant}  {', '.join(errors)}\n" in lines
    assert machine.cold_caches.calls[-1][1] == pytest.approx(COLD_CACHES.calls[-1][1], rel=0.1)
    assert "After a computation the caches are cold" in done.output
    assert re.search(r"^\[\[cold_caches.call\]\]\nafter = .*\ntime = .* # 95 %: ", remarks, re.MULTILINE)
    said = json.loads((tmp_path / "m" / "network.json").read_text())["network"]["patterns"]
    assert {"pattern", "window", "size", "error"} <= set(said["errors"][0])
    save_network(tmp_path / "again", found, "again")
    again = load_network(tmp_path / "again").patterns
    assert again.ranges == found.patterns.ranges
    assert again.cold == found.patterns.cold
    assert again.cold.costs == machine.cold_caches


def test_patterns_of_other_ranks_and_those_that_are_not_wanted_are_left_alone(with_patterns, tmp_path):
    prtt = read_measurement(with_patterns)
    quick = invoke("--from", with_patterns, "--quick").output
    assert "fitted to patterns" not in quick
    assert "Patterns of messages and collectives were left out" in quick
    record_patterns(tmp_path / "patterns", hosts=("c", "d"))
    done = invoke("--from", with_patterns, "--json")
    assert "patterns" not in json.loads(done.stdout)
    assert json.loads(done.stdout)["fit"]["S"] == prtt.fit.S


def test_a_speed_that_the_machine_did_not_have_is_refused(with_patterns):
    refused = invoke("--from", with_patterns, "--speed", 1)
    assert isinstance(refused.exception, UsageError)
    assert "expected a speed from 0 to 0, found 1" in str(refused.exception)

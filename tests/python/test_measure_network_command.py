"""`idlewave measure network` on samples that were recorded before: no MPI, no time."""

from __future__ import annotations

import json

import idlewave
import pandas as pd
import pytest
from click.testing import CliRunner
from idlewave.cli import cli
from idlewave.errors import InputError, UsageError
from idlewave.measure import describe
from idlewave.measure.network import NetworkMeasurement
from idlewave.measure.network.probing import measure_network, read_measurement
from idlewave.measure.network.storing import load_network, save_network
from test_measure_emulator import emulate
from test_measure_loggp import RENDEZVOUS

NETWORK = RENDEZVOUS["infiniband"]


def record(folder, summary=True):
    """A folder as the probe leaves it."""
    folder.mkdir()
    samples = emulate(NETWORK, seed=1, repetitions=10, new_series=True)
    samples.assign(start_ns=0, disturbed=0).to_csv(folder / "samples.csv", index=False)
    said = {"probe": "loggp", "transport": "mpi", "same_node": False, "library": "Some MPI 1.0", "eager_limit": None}
    if summary:
        (folder / "loggp.json").write_text(
            json.dumps(said | {"ended": "settled", "foreign_load": {"client": [0.3, None]}})
        )
    return folder


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return record(tmp_path_factory.mktemp("probe") / "raw")


def invoke(*arguments):
    return CliRunner().invoke(cli, ["measure", "network", *map(str, arguments)])


def test_samples_recorded_by_hand_become_a_machine_and_one_json_object(recorded, tmp_path):
    done = invoke("--from", recorded, "--json", "--methods", "-o", tmp_path / "m", "--samples", tmp_path / "s.parquet")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["fit"]["S"] == 12_288
    assert any("Other processes used 30% of the client's core" in note for note in said["notes"])
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


@pytest.mark.parametrize("more", [[], ["--methods"]])
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
    assert isinstance(invoke("--from", recorded, "--node", tmp_path / "within").exception, UsageError)


def test_a_measurement_of_a_network_is_read_back_whole(recorded, tmp_path):
    found = read_measurement(recorded)
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
        ("network.json", '{"format": 9}', "expected format 1, found 9"),
        ("network.json", '{"format": 1, "network": {}}', "'fit' is missing"),
        ("network-samples.parquet", "no table", "samples"),
    ],
)
def test_a_broken_file_of_a_network_is_named(recorded, tmp_path, file, content, words):
    save_network(tmp_path, read_measurement(recorded), "x")
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_text(content)
    with pytest.raises(InputError, match=words):
        load_network(tmp_path)


def test_a_folder_without_samples_or_with_something_else_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"samples\.csv cannot be read"):
        read_measurement(tmp_path)
    (tmp_path / "samples.csv").write_text("series,size\nrtt,many\n")
    with pytest.raises(InputError, match="expected samples of the network probe"):
        read_measurement(tmp_path)


def test_an_unknown_transport_and_one_host_are_refused_before_anything_runs():
    with pytest.raises(UsageError, match="'pigeon' is not known: expected one of mpi, put"):
        measure_network(transport="pigeon")
    with pytest.raises(UsageError, match="expected two hosts, found 1"):
        measure_network(hosts=["alone"])


def test_a_transport_without_mpi_says_so_in_the_machine(recorded, tmp_path):
    found = read_measurement(recorded)
    alone = NetworkMeasurement(found.samples, found.fit, {"transport": "tcp", "same_node": True}, describe())
    text = save_network(tmp_path, alone, "x").read_text()
    assert "within one node, over tcp." in text

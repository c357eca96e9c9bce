"""The network probe where datagrams are lost. What it measures is not looked at, so load does no harm here."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from network_probe import PROGRAM, assess
from places import PROGRAMS

pytestmark = [
    pytest.mark.skipif(not PROGRAM.exists(), reason="this installation lacks idlewave-loggp-local"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two sides need a core each; this process has one"),
]


@pytest.fixture
def drops(tmp_path):
    """What an environment must have for datagrams to be lost."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for the library that loses datagrams")
    library = tmp_path / "drops.so"
    source = PROGRAMS / "drops.c"
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library)}


@pytest.mark.long
def test_lost_datagrams_cost_their_samples_and_nothing_else(tmp_path, drops):
    measured = assess(
        tmp_path, "--transport", "udp", "--max-size", 4, "--repetitions", 2, "--seconds", 100, "--train", 8,
        env=os.environ | drops,
    )  # fmt: skip
    assert measured.summary["lost"] > 0
    assert measured.summary["complete"]
    assert set(measured.samples["series"]) >= {"rtt", "recv"}


@pytest.mark.long
def test_sizes_of_which_no_datagram_arrives_are_left_out_and_named(tmp_path, drops):
    measured = assess(
        tmp_path, "--transport", "udp", "--max-size", 64, "--repetitions", 2, "--seconds", 100, "--train", 4,
        env=os.environ | drops | {"DROPS_FROM": "60"},
    )  # fmt: skip
    largest = measured.samples["size"].max()
    assert largest < 60
    assert measured.summary["dropped_sizes"]
    assert min(measured.summary["dropped_sizes"]) > largest
    assert measured.summary["blocking_from"] == []

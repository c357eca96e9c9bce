"""A package of somebody else's adds a source of counters by an entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MODULE = '''
from idlewave.measure.counters import Counter


class Switch:
    """Counts how often it was asked."""

    name = "switch"
    now = 100

    def discover(self):
        return {"port1.stalls": Counter("stalls", "cycles", 32)}

    def read(self):
        self.now += 5
        return {"port1.stalls": self.now}


class Broken:
    def __init__(self):
        raise RuntimeError("no licence")


def nothing():
    return 5
'''
ENTRIES = """[idlewave.counters]
switch = switch_counters:Switch
broken = switch_counters:Broken
odd = switch_counters:nothing
"""
PROGRAM = """
import json
from idlewave.measure.counters import CounterReader, find_sources, source_names
sources, notes = find_sources(["switch", "broken", "odd"])
reader = CounterReader(sources, notes)
known = {name: [source, counter.unit, counter.bits] for name, (source, counter) in reader.discover().items()}
reader.read()
print(json.dumps({"names": source_names(), "known": known, "grown": reader.read(), "notes": notes}))
"""


def install(site: Path) -> None:
    """What pip makes of the package."""
    site.mkdir()
    (site / "switch_counters.py").write_text(MODULE)
    about = site / "switch_counters-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: switch-counters\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    (about / "RECORD").write_text("")


def test_the_source_of_an_installed_package_is_found_and_read_and_a_broken_one_is_said(tmp_path: Path) -> None:
    install(tmp_path / "site")
    paths = [str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    said = json.loads(done.stdout)
    assert {"switch", "broken", "odd", "net"} <= set(said["names"])
    assert said["known"] == {"switch.port1.stalls": ["switch", "cycles", 32]}
    assert said["grown"] == {"switch.port1.stalls": 5.0}
    assert said["notes"] == [
        "The plug-in broken for counters, switch_counters:Broken, cannot be used: no licence.",
        "The plug-in odd for counters, switch_counters:nothing, cannot be used: it has no name, discover and read.",
    ]

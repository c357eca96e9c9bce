"""Each source reads what is there, in made folders; what is not there, or not readable, is left out."""

from __future__ import annotations

import math
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from idlewave.errors import UsageError
from idlewave.measure.counters import Counter, CounterReader, CounterSource, find_sources, source_names
from idlewave.measure.counters.protocols import Retransmissions
from idlewave.measure.counters.registry import MOST_COUNTERS, OWN
from idlewave.measure.counters.sysfs import InfiniBand, NetworkInterfaces, Slingshot
from idlewave.measure.counters.tools import Ethtool, Libfabric, Papi, Ucx


def write(folder: Path, **texts: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n")
    return folder


def interface(root: Path, name: str, number: int, **statistics: int) -> None:
    place = root / "class/net" / name
    write(place / "statistics", **statistics)
    write(place, ifindex=number)


def test_network_interfaces_have_what_the_kernel_counts(tmp_path: Path) -> None:
    interface(tmp_path, "eth0", 2, rx_bytes=2**40, tx_dropped=3)
    interface(tmp_path, "eth0.100", 3, rx_bytes=7)
    source = NetworkInterfaces(tmp_path)
    assert source.read() == {"eth0.rx_bytes": 2**40, "eth0.tx_dropped": 3, "eth0.100.rx_bytes": 7}
    assert source.discover()["eth0.100.rx_bytes"] == Counter("bytes received", "bytes", 64)


def test_infiniband_has_the_counters_of_the_standard_and_of_the_device(tmp_path: Path) -> None:
    port = tmp_path / "class/infiniband/mlx5_0/ports/1"
    write(port / "counters", port_xmit_data=2**40, port_rcv_data=100, symbol_error=65_535, port_xmit_wait=7)
    write(port / "hw_counters", out_of_sequence=5, lifespan=10)
    source = InfiniBand(tmp_path)
    known = source.discover()
    assert source.read()["mlx5_0.1.out_of_sequence"] == 5
    assert "mlx5_0.1.lifespan" not in known
    assert known["mlx5_0.1.port_xmit_data"].bits == 64
    assert not known["mlx5_0.1.port_xmit_data"].saturates
    assert known["mlx5_0.1.port_rcv_data"] == Counter("data received, in words of 4 bytes", "4 bytes", 32, True)
    assert (known["mlx5_0.1.symbol_error"].bits, known["mlx5_0.1.symbol_error"].saturates) == (16, True)
    assert known["mlx5_0.1.out_of_sequence"].bits is None


def test_slingshot_has_telemetry_with_or_without_times_and_the_retry_handler(tmp_path: Path) -> None:
    write(tmp_path / "sys/class/cxi/cxi0/device/telemetry", hni_pkts="123@1700000000.5", pct_timeouts=4, words="no")
    write(tmp_path / "run/cxi/cxi0", spt_timeouts=9)
    source = Slingshot(tmp_path / "sys", tmp_path / "run")
    assert source.read() == {"cxi0.hni_pkts": 123, "cxi0.pct_timeouts": 4, "cxi0.rh:spt_timeouts": 9}
    assert "retry handler" in source.discover()["cxi0.rh:spt_timeouts"].what


def test_tcp_and_udp_have_what_was_sent_again_or_lost(tmp_path: Path) -> None:
    write(
        tmp_path / "net",
        snmp="Ip: Forwarding InReceives\nIp: 1 5\nTcp: CurrEstab OutSegs RetransSegs MaxConn\nTcp: 3 100 7 -1\n"
        "Udp: InDatagrams RcvbufErrors\nUdp: 4 2",
        netstat="TcpExt: SyncookiesSent TCPTimeouts TCPLostRetransmit TCPPureAcks\nTcpExt: 0 11 1 55\n"
        "IpExt: InOctets\nIpExt: 99",
    )
    assert Retransmissions(tmp_path).read() == {
        "Tcp.OutSegs": 100,
        "Tcp.RetransSegs": 7,
        "Udp.InDatagrams": 4,
        "Udp.RcvbufErrors": 2,
        "TcpExt.SyncookiesSent": 0,
        "TcpExt.TCPTimeouts": 11,
        "TcpExt.TCPLostRetransmit": 1,
    }


def test_the_counters_of_this_machine_are_read() -> None:
    if not Path("/proc/net/snmp").exists():
        pytest.skip("no /proc/net")
    assert "Tcp.RetransSegs" in Retransmissions().read()
    assert "lo.rx_bytes" in NetworkInterfaces().read()


def test_ethtool_is_asked_for_each_interface_and_only_again_where_it_answered(tmp_path: Path) -> None:
    interface(tmp_path, "eth0", 1)
    interface(tmp_path, "lo", 2)
    program = tmp_path / "ethtool"
    program.write_text(
        f"#!/bin/sh\necho $2 >> {tmp_path}/asked\n[ $2 = eth0 ] || exit 94\n"
        'echo "NIC statistics:"\necho "     rx_discards_phy: 12"\necho "     [0]: tx queue: 5"\n'
    )
    program.chmod(0o755)
    source = Ethtool(program, tmp_path)
    assert sorted(source.discover()) == ["eth0.[0]:_tx_queue", "eth0.rx_discards_phy"]
    assert source.read() == {"eth0.rx_discards_phy": 12, "eth0.[0]:_tx_queue": 5}
    assert (tmp_path / "asked").read_text().split() == ["eth0", "lo", "eth0"]


def ucx_report(tx: int) -> str:
    """As UCX writes it, with names of interfaces, and classes of which there are several."""
    return f"host:1:\n  uct_iface-mlx5_0:1:\n    tx_am: {tx}\n    flush: 1\n  uct_ep*:\n    bytes_short: 40\n\n"


def test_the_last_ucx_reports_of_all_processes_are_added_up(tmp_path: Path) -> None:
    (tmp_path / "ucx.1.stats").write_text(ucx_report(1) + ucx_report(5))
    (tmp_path / "ucx.2.stats").write_text(ucx_report(1) + ucx_report(7) + ucx_report(9)[:30])
    source = Ucx(f"file:{tmp_path}/ucx.%p.stats")
    assert source.read() == {"uct_iface.tx_am": 12, "uct_iface.flush": 2, "uct_ep.bytes_short": 80}
    (tmp_path / "ucx.1.stats").write_text(ucx_report(1) * 20_000 + ucx_report(100))
    assert source.read()["uct_iface.tx_am"] == 107
    assert Ucx("udp:collector:1234").discover() == {}
    assert Ucx(f"file:{tmp_path}/ucx.1.stats:bin").discover() == {}
    assert Ucx("").discover() == {}


def test_what_libfabrics_monitor_counted_is_added_up_as_its_file_grows(tmp_path: Path) -> None:
    file = tmp_path / "1_2_0_0_tcp.csv"
    file.write_text("mon_tsend_0_64_c,mon_tsend_0_64_s\n5,40\n1,8\n")
    source = Libfabric(tmp_path)
    assert source.read() == {"tcp.mon_tsend_0_64_c": 6, "tcp.mon_tsend_0_64_s": 48}
    with file.open("a") as more:
        more.write("10,80\n3,")
    assert source.read() == {"tcp.mon_tsend_0_64_c": 16, "tcp.mon_tsend_0_64_s": 128}
    with file.open("a") as more:
        more.write("24\n")
    assert source.read() == {"tcp.mon_tsend_0_64_c": 19, "tcp.mon_tsend_0_64_s": 152}
    assert Libfabric("").discover() == {}


def test_papi_is_read_through_its_binding_and_left_out_without(monkeypatch: pytest.MonkeyPatch) -> None:
    low = ModuleType("made_papi")
    low.library_init = lambda: None  # type: ignore[attr-defined]
    low.create_eventset = lambda: 1  # type: ignore[attr-defined]
    low.event_name_to_code = lambda name: {"net:::eth0:rx:bytes": 7}[name]  # type: ignore[attr-defined]
    low.add_event = lambda _set, _code: None  # type: ignore[attr-defined]
    low.start = lambda _set: None  # type: ignore[attr-defined]
    low.read = lambda _set: [42]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "made_papi", low)
    source = Papi("net:::eth0:rx:bytes", "made_papi")
    assert list(source.discover()) == ["net:::eth0:rx:bytes"]
    assert source.read() == {"net:::eth0:rx:bytes": 42}
    for events, module in (("unknown", "made_papi"), ("net:::eth0:rx:bytes", "no_such_papi"), ("", "made_papi")):
        missing = Papi(events, module)
        assert missing.discover() == {}
        assert missing.read() == {}


@pytest.mark.parametrize("make", [NetworkInterfaces, InfiniBand, Retransmissions])
def test_a_source_that_is_not_there_has_no_counters(tmp_path: Path, make) -> None:
    assert make(tmp_path).discover() == {}
    assert make(tmp_path).read() == {}


@pytest.mark.parametrize("text", ["", "-5", "5.5", "five", "0x", "1" * 50, "٥"])
def test_a_file_that_is_no_whole_number_is_no_counter(tmp_path: Path, text: str) -> None:
    interface(tmp_path, "eth0", 1, good=1)
    write(tmp_path / "class/net/eth0/statistics", odd=text)
    assert NetworkInterfaces(tmp_path).read() == {"eth0.good": 1}


def test_a_pipe_among_counters_is_not_waited_for(tmp_path: Path) -> None:
    interface(tmp_path, "eth0", 1, good=1)
    os.mkfifo(tmp_path / "class/net/eth0/statistics/pipe")
    assert NetworkInterfaces(tmp_path).read() == {"eth0.good": 1}


def test_a_device_that_goes_and_comes_is_unknown_meanwhile_and_known_again(tmp_path: Path) -> None:
    interface(tmp_path, "eth0", 1, rx_bytes=100)
    reader = CounterReader([NetworkInterfaces(tmp_path)])
    reader.discover()
    name = "net.eth0.rx_bytes"
    assert math.isnan(reader.read()[name])
    interface(tmp_path, "eth0", 1, rx_bytes=150)
    assert reader.read()[name] == 50
    shutil.rmtree(tmp_path / "class/net/eth0")
    assert math.isnan(reader.read()[name])
    interface(tmp_path, "eth0", 2, rx_bytes=900)
    assert math.isnan(reader.read()[name])
    interface(tmp_path, "eth0", 2, rx_bytes=901)
    assert reader.read()[name] == 1


def test_a_device_that_was_replaced_between_two_readings_has_no_growth(tmp_path: Path) -> None:
    interface(tmp_path, "eth0", 1, rx_bytes=100)
    interface(tmp_path, "eth1", 2, rx_bytes=100)
    reader = CounterReader([NetworkInterfaces(tmp_path)])
    reader.discover()
    reader.read()
    interface(tmp_path, "eth0", 7, rx_bytes=500)
    interface(tmp_path, "eth1", 2, rx_bytes=500)
    grown = reader.read()
    assert math.isnan(grown["net.eth0.rx_bytes"])
    assert grown["net.eth1.rx_bytes"] == 400


class Failing:
    name = "failing"

    def __init__(self, readings: int) -> None:
        self.left = readings

    def discover(self) -> dict[str, Counter]:
        if self.left == 0:
            raise RuntimeError("no such card")
        return {"a": Counter()}

    def read(self) -> dict[str, int]:
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("the card is gone")
        return {"a": 10 - self.left}


def test_a_source_that_fails_is_said_and_the_others_are_read_on(tmp_path: Path) -> None:
    interface(tmp_path, "eth0", 1, rx_bytes=100)
    reader = CounterReader([Failing(0), Failing(3), NetworkInterfaces(tmp_path)])
    assert sorted(reader.discover()) == ["failing.a", "net.eth0.rx_bytes"]
    reader.read()
    assert reader.read() == {"failing.a": 1, "net.eth0.rx_bytes": 0}
    assert reader.read() == {"net.eth0.rx_bytes": 0}
    assert [note.rpartition(": ")[2] for note in reader.notes] == ["no such card.", "the card is gone."]


def test_there_are_no_more_counters_than_a_recording_may_have() -> None:
    class Growing:
        name = "growing"
        now = 0

        def discover(self) -> dict[str, Counter]:
            return {"first": Counter()}

        def read(self) -> dict[str, int]:
            self.now += 1
            return {"first": self.now, **{f"veth{self.now}-{i}": 0 for i in range(1000)}}

    reader = CounterReader([Growing()])
    reader.discover()
    names = {name for _ in range(10) for name in reader.read()}
    assert len(names) == MOST_COUNTERS
    assert "growing.first" in names
    assert len(reader.notes) == 1


def test_sources_are_chosen_by_name_and_an_unknown_one_is_refused() -> None:
    assert [source.name for source in find_sources(["tcp", "net"])[0]] == ["net", "tcp"]
    assert find_sources([]) == ([], [])
    assert find_sources(["none"]) == ([], [])
    assert {source.name for source in find_sources()[0]} >= set(OWN)
    with pytest.raises(UsageError, match=r"source of counters.*'netz'"):
        find_sources(["netz"])


def test_all_sources_of_idlewave_are_sources() -> None:
    assert all(isinstance(make(), CounterSource) for make in OWN.values())
    assert source_names()[: len(OWN)] == list(OWN)

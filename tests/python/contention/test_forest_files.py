"""A model of contention in a file: read again it says the same; what is no model or was changed is refused by name."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from idlewave.contention import forest as forest_module
from idlewave.contention.evaluation import learn
from idlewave.contention.features import features_by_victim
from idlewave.contention.forest import SEAL, Detector, ForestSettings, _sealed, probability
from idlewave.errors import InputError, OutputError
from planted_contention import DRAM, contention_table
from skops import io as skops_io

TABLE = contention_table({"stream": DRAM, "cg": DRAM}, pairs=4, iterations=5)


@pytest.fixture(scope="module")
def detector() -> Detector:
    return learn(TABLE, ForestSettings(trees=3), alarm_level=0.1, machine={"host": "here"})[0]


@pytest.fixture
def file(detector: Detector, tmp_path: Path) -> Path:
    detector.save(tmp_path / "model.skops")
    return tmp_path / "model.skops"


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def resealed(content: object) -> bytes:
    """A model file of this content, with a digest that fits: as somebody writes it who knows the format."""
    return _sealed(skops_io.dumps(content))


def content_of(detector: Detector) -> dict[str, object]:
    return {
        "forests": dict(detector.forests),
        "columns": {name: list(columns) for name, columns in detector.columns.items()},
        "thresholds": dict(detector.thresholds),
        "scores": dict(detector.scores),
        "alarm_level": detector.alarm_level,
        "baselines": {name: dict(medians) for name, medians in detector.baselines.items()},
        "trained_on": json.dumps(dict(detector.trained_on)),
    }


def test_a_model_that_is_read_again_says_the_same(detector: Detector, file: Path) -> None:
    again = Detector.load(file)
    assert again.thresholds == detector.thresholds
    assert again.scores == detector.scores
    assert again.baselines == detector.baselines
    for name, columns in detector.columns.items():
        given = features_by_victim(TABLE, columns, detector.baselines).to_numpy()
        np.testing.assert_array_equal(
            probability(again.forests[name], given), probability(detector.forests[name], given)
        )


def test_a_model_says_what_it_was_trained_on(file: Path) -> None:
    said = Detector.load(file).trained_on
    assert said["machine"] == {"host": "here"}
    assert said["victims"] == ["stream", "cg"]
    assert said["traffic"] == ["writer"]
    assert said["rates_Bps"] == [1e9]
    assert said["iterations"] == len(TABLE)
    assert said["columns"]["l1"] == ["probe.latency_l1_s", "probe.bandwidth_l1_Bps"]
    assert {"scikit-learn", "skops", "numpy", "idlewave"} <= set(said["versions"])


def cut_short(data: bytes) -> bytes:
    return data[: len(data) // 2]


def one_value_changed(data: bytes) -> bytes:
    members = members_of(data)
    members["schema.json"] = members["schema.json"].replace(b"stream", b"strean", 1)
    return zipped(members)


def one_member_more(data: bytes) -> bytes:
    return zipped(members_of(data) | {"more.npy": b"x"})


def without_seal(data: bytes) -> bytes:
    return zipped({name: content for name, content in members_of(data).items() if name != SEAL})


def of_a_later_schema(data: bytes) -> bytes:
    members = members_of(data)
    seal = json.loads(members[SEAL])
    return zipped(members | {SEAL: json.dumps(seal | {"schema": 2}).encode()})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cut_short, "not a zip file"),
        (one_value_changed, "its digest does not fit"),
        (one_member_more, "its digest does not fit"),
        (without_seal, "a zip archive without idlewave.json"),
        (of_a_later_schema, "expected schema 1, found 2"),
        (lambda _: b"", "not a zip file"),
        (lambda _: pickle.dumps({"forests": 1}), "not a zip file"),
        (lambda data: zipped(members_of(data) | {SEAL: b"[]"}), "expected the format"),
        (lambda data: zipped(members_of(data) | {SEAL: b"\xff"}), "cannot be read"),
    ],
)
def test_a_file_that_is_no_model_or_was_changed_is_refused_by_its_name(
    change: Callable[[bytes], bytes], said: str, file: Path
) -> None:
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(InputError, match=said) as refused:
        Detector.load(file)
    assert str(refused.value).startswith(str(file))


def test_every_changed_byte_is_noticed(file: Path) -> None:
    data = bytearray(file.read_bytes())
    random = np.random.default_rng(7)
    before = Detector.load(file)
    for place in random.integers(0, len(data), 15):
        changed = data.copy()
        changed[place] ^= 0x55
        file.write_bytes(changed)
        found: object = None
        try:
            found = Detector.load(file)
        except InputError as error:
            said = str(error)
        if not isinstance(found, Detector):
            assert said.startswith(str(file))
        else:  # a byte of the archive that no content depends on, such as a time
            assert found.thresholds == before.thresholds
            assert found.baselines == before.baselines


def test_a_type_that_skops_does_not_know_is_refused_though_the_digest_fits(detector: Detector, file: Path) -> None:
    file.write_bytes(resealed(content_of(detector) | {"scores": Path("/tmp")}))
    with pytest.raises(InputError, match=r"model\.skops: holds types that a model of contention has not.*Path"):
        Detector.load(file)


def other_estimator(content: dict[str, object]) -> dict[str, object]:
    from sklearn.ensemble import ExtraTreesClassifier

    given = np.arange(8.0).reshape(-1, 2)
    forests = dict(content["forests"])  # type: ignore[call-overload]
    forests["l1"] = ExtraTreesClassifier(2).fit(given, [False, True, False, True])
    return content | {"forests": forests}


def other_columns(content: dict[str, object]) -> dict[str, object]:
    columns = dict(content["columns"])  # type: ignore[call-overload]
    return content | {"columns": columns | {"l1": ["probe.latency_l1_s"]}}


def no_number(content: dict[str, object]) -> dict[str, object]:
    return content | {"thresholds": {"l1": float("nan"), "l2": 0.5, "l3": 0.5}}


def nothing_in_it(_content: dict[str, object]) -> dict[str, object]:
    return {}


@pytest.mark.parametrize("change", [other_estimator, other_columns, no_number, nothing_in_it])
def test_a_content_that_is_no_detector_is_refused_though_the_digest_fits(
    change: Callable[[dict[str, object]], dict[str, object]], detector: Detector, file: Path
) -> None:
    file.write_bytes(resealed(change(content_of(detector))))
    with pytest.raises(InputError, match=r"model\.skops: cannot be read as a model of contention"):
        Detector.load(file)


def test_a_tree_that_leads_outside_itself_is_refused(detector: Detector, file: Path) -> None:
    content = content_of(detector)
    again = skops_io.loads(skops_io.dumps(content), trusted=[*forest_module.TREE_TYPES])
    tree = again["forests"]["l3"].estimators_[0].tree_
    state = tree.__getstate__()
    nodes = state["nodes"].copy()
    nodes["left_child"][0] = len(nodes) + 1000
    tree.__setstate__(state | {"nodes": nodes})
    file.write_bytes(resealed(again))
    with pytest.raises(InputError, match="a tree leads outside itself"):
        Detector.load(file)


def test_a_model_of_another_scikit_learn_is_refused(detector: Detector, file: Path) -> None:
    said = dict(detector.trained_on)
    said["versions"] = said["versions"] | {"scikit-learn": "0.24.1"}
    file.write_bytes(resealed(content_of(detector) | {"trained_on": json.dumps(said)}))
    with pytest.raises(InputError, match=r"was trained with scikit-learn 0\.24\.1"):
        Detector.load(file)


def test_a_full_disk_is_told_and_the_earlier_model_stays(detector: Detector, tmp_path: Path) -> None:
    (tmp_path / "full.skops").symlink_to("/dev/full")
    with pytest.raises(OutputError, match="No space left"):
        detector.save(tmp_path / "full.skops")

"""Random forests of scikit-learn that detect traffic, and the file that holds them.

A file is what skops writes, a zip archive without pickle, with one more member that has the digest of all others. A
file is used only if that digest fits, if skops names no type in it that it does not know, and if the trees lead nowhere
outside themselves.
"""

from __future__ import annotations

import io
import json
import platform
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._core import version
from ..errors import InputError, LibraryError
from ..escaping import cut, name_of
from ..input.bounds import size_words
from ..input.files import read_bytes
from ..output import OutputFiles
from ..provenance import PROVENANCE, Provenance
from .defaults import SEED, TREES

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

Forest: TypeAlias = Any
"""A RandomForestClassifier, which has no types."""

WHAT = "a model of contention"
SEAL = "idlewave.json"
"""The member with format, digest and provenance."""
FORMAT = "idlewave contention model"
SCHEMA = 1
TREE_TYPES = ("sklearn.tree._tree.Tree",)
"""What skops does not know and every forest has: arrays of nodes, which `_check_tree` follows."""
MOST_FILE = 256 << 20
MOST_CONTENT = 1 << 30


@dataclass(frozen=True)
class ForestSettings:
    """How forests are grown: the number of trees, and the seed of all that is drawn."""

    trees: int = TREES
    seed: int = SEED


def grown_forest(
    features: pd.DataFrame, traffic: npt.NDArray[np.bool_], settings: ForestSettings, *, out_of_bag: bool = False
) -> Forest:
    """A forest trained on the features of iterations. `out_of_bag`: it has the predictions of each iteration by the
    trees that did not see it (`oob_decision_function_`). Raises LibraryError."""
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError as error:
        raise missing("scikit-learn", error) from error
    forest = RandomForestClassifier(
        n_estimators=settings.trees, random_state=settings.seed, oob_score=out_of_bag, n_jobs=1
    )
    with warnings.catch_warnings():  # of iterations without votes, which an evaluation leaves out
        warnings.filterwarnings("ignore", "Some inputs do not have OOB scores", UserWarning)
        return forest.fit(features.to_numpy(dtype=np.float64), traffic)


def missing(package: str, error: ImportError) -> LibraryError:
    """The error that a library for contention is not there."""
    return LibraryError("a detector of contention", package, error, "contention")


def probability(forest: Forest, features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The probability of traffic in each iteration, which is the mean over the trees."""
    if not len(features):
        return np.empty(0)
    shares = forest.predict_proba(features)
    where = np.flatnonzero(forest.classes_)
    return np.asarray(shares[:, where[0]]) if len(where) else np.zeros(len(features))


@dataclass(frozen=True, eq=False)
class Detector:
    """Forests that detect traffic by the ratios of an iteration's features to a quiet baseline.

    `forests`, `columns` and `thresholds` are by feature set. A probability above the threshold is an alarm: of quiet
    iterations that no tree had seen at most `alarm_level` were above it. `scores` are the shares of such iterations,
    with and without traffic, that each set classified correctly. `baselines` has the quiet median of each column by
    victim, and under "" of all of them. `trained_on` says of what, where and with which versions it was made.
    """

    forests: Mapping[str, Forest]
    columns: Mapping[str, tuple[str, ...]]
    thresholds: Mapping[str, float]
    scores: Mapping[str, float]
    alarm_level: float
    baselines: Mapping[str, Mapping[str, float]]
    trained_on: Mapping[str, Any]

    @property
    def best_set(self) -> str:
        """The feature set with the best score."""
        return max(self.scores, key=lambda name: self.scores[name])

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The columns of all sets, each once."""
        return tuple(dict.fromkeys(column for columns in self.columns.values() for column in columns))

    def save(self, path: str | Path) -> None:
        """Write it to a file. Raises LibraryError, OutputError."""
        try:
            from skops import io as skops_io
        except ImportError as error:
            raise missing("skops", error) from error
        content = {
            "forests": dict(self.forests),
            "columns": {name: list(columns) for name, columns in self.columns.items()},
            "thresholds": dict(self.thresholds),
            "scores": dict(self.scores),
            "alarm_level": self.alarm_level,
            "baselines": {name: dict(medians) for name, medians in self.baselines.items()},
            "trained_on": json.dumps(dict(self.trained_on)),
        }
        with OutputFiles() as files:
            files.open(path).write(_sealed(skops_io.dumps(content)))

    @classmethod
    def load(cls, path: str | Path) -> Detector:
        """Read a file that `save` wrote. Raises InputError that names the file and what is wrong with it, LibraryError
        if skops or scikit-learn is missing."""
        name = name_of(path)
        data = read_bytes(path, WHAT, most=MOST_FILE)
        _check_seal(data, name)
        try:
            from sklearn import __version__ as here
            from skops import io as skops_io
        except ImportError as error:
            raise missing("skops", error) from error
        try:
            unknown = sorted({*skops_io.get_untrusted_types(data=data)} - {*TREE_TYPES})
            if unknown:
                raise InputError(f"{name}: holds types that {WHAT} has not, and is not used: {cut(', '.join(unknown))}")
            content = skops_io.loads(data, trusted=[*TREE_TYPES])
            found = _detector(content)
        except InputError:
            raise
        except Exception as error:  # whatever a changed file makes of skops and scikit-learn
            raise _refused(name, f"{type(error).__name__}: {error}") from error
        trained = str(found.trained_on.get("versions", {}).get("scikit-learn", ""))
        if trained.split(".")[:2] != here.split(".")[:2]:
            raise InputError(
                f"{name}: was trained with scikit-learn {cut(trained)}, and here is {here}, whose trees may differ: "
                "train it again (idlewave contention learn)"
            )
        return found


def versions() -> dict[str, str]:
    """The versions of what a model depends on. Raises LibraryError."""
    try:
        import sklearn
        import skops
    except ImportError as error:
        raise missing("scikit-learn", error) from error
    return {
        "idlewave": version(),
        "scikit-learn": sklearn.__version__,
        "skops": skops.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _refused(name: str, why: str) -> InputError:
    return InputError(f"{name}: cannot be read as {WHAT}: {cut(why)}")


def _digest(archive: zipfile.ZipFile) -> str:
    """The digest of names and contents of all members but the seal."""
    found = sha256()
    for name in sorted(archive.namelist()):
        if name == SEAL:
            continue
        content = archive.read(name)
        for piece in (name.encode(), content):
            found.update(len(piece).to_bytes(8, "little"))
            found.update(piece)
    return f"sha256:{found.hexdigest()}"


def _sealed(data: bytes) -> bytes:
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a") as archive:
        made = Provenance.made("recording", by="idlewave contention learn").as_json()
        seal = {"format": FORMAT, "schema": SCHEMA, "digest": _digest(archive), PROVENANCE: made}
        archive.writestr(SEAL, json.dumps(seal))
    return stream.getvalue()


def _check_seal(data: bytes, name: str) -> None:
    """Raise InputError unless these are the bytes of a model, as they were written."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            size = sum(member.file_size for member in archive.infolist())
            if size > MOST_CONTENT:
                raise _refused(name, f"expected at most {size_words(MOST_CONTENT)} inside, found {size} bytes")
            if len(set(names)) != len(names):
                raise _refused(name, "it has two members of one name")
            if SEAL not in names:
                raise _refused(name, f"it is a zip archive without {SEAL}, which idlewave contention learn writes")
            seal = json.loads(archive.read(SEAL))
            if not isinstance(seal, dict) or seal.get("format") != FORMAT:
                raise _refused(name, f"expected the format {FORMAT!r} in {SEAL}")
            if seal.get("schema") != SCHEMA:
                raise _refused(name, f"expected schema {SCHEMA}, found {seal.get('schema')!r}")
            if seal.get("digest") != _digest(archive):
                raise _refused(name, "it was changed since it was written: its digest does not fit")
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise _refused(name, str(error) or type(error).__name__) from error
    except Exception as error:
        if isinstance(error, InputError):
            raise
        raise _refused(name, f"{type(error).__name__}: {error}") from error  # such as zlib.error


def _detector(content: Any) -> Detector:  # noqa: ANN401 - whatever the file holds
    columns = {str(name): tuple(map(str, names)) for name, names in content["columns"].items()}
    forests = dict(content["forests"])
    if forests.keys() != columns.keys() or not forests:
        raise ValueError("expected a forest and columns for each feature set")
    for name, forest in forests.items():
        _check_forest(forest, len(columns[name]))
    return Detector(
        forests,
        columns,
        _numbers(content["thresholds"], columns),
        _numbers(content["scores"], columns),
        float(content["alarm_level"]),
        {str(victim): _numbers(medians, None) for victim, medians in content["baselines"].items()},
        dict(json.loads(content["trained_on"])),
    )


def _numbers(values: Mapping[str, float], names: Mapping[str, object] | None) -> dict[str, float]:
    found = {str(name): float(value) for name, value in values.items()}
    if (names is not None and found.keys() != names.keys()) or not all(map(np.isfinite, found.values())):
        raise ValueError("expected finite numbers, one for each feature set or column")
    return found


def _check_forest(forest: Forest, columns: int) -> None:
    """Raise ValueError unless it is a forest of so many features whose trees end: a prediction does not check that."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    if type(forest) is not RandomForestClassifier or not len(forest.estimators_):
        raise ValueError("expected random forests with trees")
    if int(forest.n_features_in_) != columns or int(forest.n_outputs_) != 1:
        raise ValueError(f"expected a forest of {columns} features")
    if not set(np.asarray(forest.classes_).tolist()) <= {False, True}:
        raise ValueError("expected the classes with and without traffic")
    for member in forest.estimators_:
        if type(member) is not DecisionTreeClassifier:
            raise ValueError("expected trees in a forest")
        _check_tree(member.tree_, columns, len(forest.classes_))


def _check_tree(tree: Any, columns: int, classes: int) -> None:  # noqa: ANN401 - it has no types
    left, right = np.asarray(tree.children_left), np.asarray(tree.children_right)
    node = np.arange(len(left))
    inner = left != -1
    whole = (
        len(left) > 0
        and len(left) == int(tree.node_count)
        and np.asarray(tree.value).shape == (len(left), 1, classes)
        and bool(((right != -1) == inner).all())
        and bool((left[inner] > node[inner]).all() and (right[inner] > node[inner]).all())
        and bool((left < len(left)).all() and (right < len(left)).all())
        and bool(((tree.feature[inner] >= 0) & (tree.feature[inner] < columns)).all())
        and int(tree.n_features) == columns
    )
    if not whole:
        raise ValueError("a tree leads outside itself")

"""Whether the parts of a report belong together, by their provenance; and the sentences to say if they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..escaping import cut, quote
from ..formatting import join_words
from ..provenance import ONE_SIDED, Provenance, parts_that_differ
from ..studies.rows_digest import EDITED, is_of_rows

MACHINE, PROGRAM, SCALE = "machine", "program", "scale"
OVERTIME, CONTENTION = "overtime", "contention"
"""The topics of a report's sentences."""


@dataclass(frozen=True)
class Part:
    """A part of a report: its name in sentences, and its provenance."""

    name: str
    provenance: Provenance | None


@dataclass(frozen=True)
class Consistency:
    """How the parts of a report belong together.

    `noise` is the noise of the study, as the subject of a sentence. `contradictions` has, by topic, the sentences about
    parts that do not belong together. `notes` has sentences about what is allowed, but should be known.
    """

    noise: str = "noise"
    contradictions: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """All sentences about parts that do not belong together."""
        return [sentence for sentences in self.contradictions.values() for sentence in sentences]

    def add(self, topic: str, sentences: Sequence[str]) -> None:
        """Add sentences about a topic."""
        if sentences:
            self.contradictions.setdefault(topic, []).extend(sentences)


def consistency_of(
    measured: Part | None, trace: Part | None, prediction: Provenance | None, study: Part | None
) -> Consistency:
    """Compare the provenance of the parts; a part that is None is not compared.

    The provenance of `measured` is that of the measured machine; `prediction` is the provenance of the simulation of
    the traced ranks.
    """
    found = Consistency(noise_subject(measured, study))
    if trace is not None and trace.provenance is not None:
        found.add(PROGRAM, _changes_of_trace(trace.name, trace.provenance))
    if measured is not None and prediction is not None:
        found.add(PROGRAM, _other_machine("the prediction of the run", measured, prediction))
    if study is None:
        return found
    if measured is None and trace is None:
        found.notes.extend(_changes_of_study(study))
        return found
    if study.provenance is None:
        found.add(SCALE, [f"{_begin(study.name)} does not say of which machine and which program it is."])
        return found
    found.add(SCALE, _changes_of_study(study))
    if measured is not None:
        found.add(SCALE, _other_machine(study.name, measured, study.provenance))
    if trace is not None:
        found.add(SCALE, _other_program(study.name, trace, study.provenance))
    if trace is not None and prediction is not None:
        found.add(SCALE, _other_algorithms(study.name, prediction, study.provenance))
    return found


def noise_subject(measured: Part | None, study: Part | None) -> str:
    """The noise of a study, as the subject of a sentence."""
    if study is None:
        return Consistency.noise
    machine = None if study.provenance is None else study.provenance.find("machine")
    if machine is None or not is_of_rows(study.provenance):
        return "noise of unknown origin"
    if "noise" not in machine.digests:
        return Consistency.noise
    if measured is None or measured.provenance is None:
        return f"the noise of {quote(machine.name)}"
    if "noise" not in parts_that_differ(machine, measured.provenance):
        return "the measured noise"
    return f"the noise of {_called(machine, measured)}, not the measured one,"


def _changes_of_study(study: Part) -> list[str]:
    """A sentence, if the rows of a study are not the rows that its provenance describes, or that is not known."""
    if study.provenance is None or is_of_rows(study.provenance):
        return []
    if study.provenance.options.get(EDITED):
        return [f"{_begin(study.name)} was edited after it was made."]
    return [f"{_begin(study.name)} does not say with which rows it was made."]


def _begin(name: str) -> str:
    """A name at the beginning of a sentence: files keep theirs."""
    return f"The {name[4:]}" if name.startswith("the ") else name


def _called(machine: Provenance, measured: Part) -> str:
    """The name of a machine that is not the measured one; the two may have the same name."""
    same = measured.provenance is not None and machine.name == measured.provenance.name
    return f"another machine that is called {quote(machine.name)}" if same else quote(machine.name)


def _other_machine(name: str, measured: Part, made: Provenance) -> list[str]:
    """A sentence, if the machine of a simulation is not the measured one, maybe with a network between its nodes."""
    machine = made.find("machine")
    if machine is None or measured.provenance is None:
        return [f"{_begin(name)} does not say with which machine it was simulated."]
    differing = parts_that_differ(machine, measured.provenance)
    if "noise" not in machine.digests:
        differing = [part for part in differing if part != "noise"]
    if "one_sided" not in measured.provenance.digests:  # another command measures them
        differing = [part for part in differing if part != ONE_SIDED]
    if _is_node_of(measured.provenance, machine):
        differing = [part for part in differing if not part.startswith("network")]
    if not differing:
        return []
    return [
        f"{_begin(name)} was simulated with the {join_words(differing)} of {_called(machine, measured)}, not with what "
        f"was measured in {measured.name}."
    ]


def _is_node_of(measured: Provenance, machine: Provenance) -> bool:
    """Whether a machine has the measured network within its nodes, and another one between them."""
    network = measured.digests.get("network")
    return "node" not in measured.digests and network is not None and machine.digests.get("node") == network


def _changes_of_trace(name: str, trace: Provenance) -> list[str]:
    if "unknown" in trace.options:
        return [f"What {name} was simulated from is not known: {cut(str(trace.options['unknown']))}."]
    if trace.options.get("changed"):
        return [f"The ranks’ files in {name} are not those that its trace.json was written with."]
    return []


def _other_program(name: str, trace: Part, study: Provenance) -> list[str]:
    schedule, traced = study.find("schedule"), study.find("trace")
    if schedule is None:
        return [f"{_begin(name)} does not say of which program it is."]
    edited = [found.name for source in study.sources for found in source.all() if found.options.get("edited")]
    if edited:
        return [f"{_begin(name)} is of {cut(edited[0])}, which was edited after it was made."]
    content = None if traced is None else traced.digests.get("content")
    own = None if trace.provenance is None else trace.provenance.digests.get("content")
    if content is None or own is None:
        return [
            f"{_begin(name)} is of {cut(schedule.name)}, of which is not known whether it was made of {trace.name}."
        ]
    if content != own:
        of = "another trace that had this name" if traced and traced.name == trace.name else cut(schedule.name)
        return [f"{_begin(name)} is of {of}, not of the run in {trace.name}."]
    points = [f"{option} {schedule.options[option]}" for option in ("begin", "end") if schedule.options.get(option)]
    if points:
        return [f"{_begin(name)} is of a stretch of the run in {trace.name} ({cut(', '.join(points))})."]
    return []


def _other_algorithms(name: str, prediction: Provenance, study: Provenance) -> list[str]:
    own, other = _conversion(prediction), _conversion(study)
    if own is None or other is None or own == other:
        return []
    if own | {"cold_caches": None} == other | {"cold_caches": None}:
        return [f"{_begin(name)} has other costs of cold caches than the prediction of the run."]
    return [
        f"{_begin(name)} has collectives with {_algorithms(other)}, the prediction of the run with {_algorithms(own)}."
    ]


def _conversion(made: Provenance) -> dict[str, object] | None:
    """How the trace became a schedule."""
    for found in made.all():
        if found.kind == "schedule" and any(source.kind == "trace" for source in found.sources):
            return {
                "algorithms": found.options.get("algorithms"),
                "cost": found.options.get("reduction_cost"),
                "rules": found.options.get("algorithm_rules"),
                "cold_caches": found.options.get("cold_caches"),
            }
    return None


def _algorithms(conversion: dict[str, object]) -> str:
    chosen, cost = conversion["algorithms"], conversion["cost"]
    words = [f"{name}={how}" for name, how in chosen.items()] if isinstance(chosen, dict) else []
    if words and conversion["rules"]:
        words.append("those of the machine's rules")
    others = "those of the machine's rules" if conversion["rules"] else "the default algorithms"
    text = cut(join_words(words)) if words else others
    return f"{text} and {cost} ns per byte reduced" if cost else text

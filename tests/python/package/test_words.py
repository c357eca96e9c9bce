"""The core is written in the field's words: no word that the glossary replaces comes back in its identifiers."""

from __future__ import annotations

import re

import pytest
from places import ROOT

REPLACED = {
    "along": "exchange",
    "asked": "request to send",
    "clearance": "clear to send",
    "crew": "threads and processes",
    "crowd": "overflow index",
    "elsewhere": "another rank, another process",
    "far": "overflow",
    "follower": "successor",
    "following": "dependency resolution",
    "gathered": "posted, unexpected",
    "hear": "receive",
    "held": "conservative",
    "image": "snapshot",
    "keep": "serialise, checkpoint",
    "kept": "serialised, checkpointed",
    "leg": "segment",
    "listing": "rank schedule",
    "loading": "load balancing",
    "mail": "message batch",
    "manner": "scheduler, run configuration",
    "meet": "barrier, match",
    "meeting": "barrier, match",
    "moved": "migrated",
    "nobody": "none, no rank",
    "packer": "serialiser",
    "packing": "serialisation",
    "parcel": "message batch",
    "part": "block, member, serialised state",
    "place": "op index, position",
    "situation": "context",
    "stray": "unexpected message",
    "tell": "send, schedule",
    "telling": "sending",
    "told": "sent, delivered",
    "turn": "processing element",
    "visit": "execute",
    "visiting": "execution",
    "wire": "transport, channel",
    "withdrawal": "cancellation",
}
"""A word that docs/glossary.md replaces, with the field's words."""

MEANT_OTHERWISE = {
    ("base", "loading"): "an archive loads",
    ("base", "part"): "a slice of bytes",
    ("collectives", "loading"): "an archive loads",
    ("collectives", "part"): "a position within a round",
    ("goal", "keep"): "characters of a text that stay in its window",
    ("goal", "loading"): "an archive loads",
    ("goal", "meet"): "a requirement is met",
    ("goal", "part"): "a slice of a file",
    ("loggops", "part"): "a component of a worker",
    ("loggopsim", "meet"): "a requirement is met",
    ("pdes", "part"): "a slice of bytes",
    ("timeline", "wire"): "a message's bytes on the wire",
}
"""Words of a folder that have their everyday meaning there."""


def identifiers(source: str) -> set[str]:
    """All identifiers of C++ source: no comments, literals, includes, nor names of the standard library."""
    code = re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|^\s*#[^\n]*|std::\w+', " ", source, flags=re.DOTALL | re.M)
    return set(re.findall(r"[A-Za-z_]\w*", code))


def words_of(identifier: str) -> list[str]:
    """The words of an identifier in snake_case or CamelCase, without the s of a plural or verb."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)
    return [re.sub(r"(?<=[^s])s$", "", word.lower()) for word in words]


def test_identifiers_are_cut_into_words() -> None:
    assert words_of("tells_lps") == ["tell", "lp"]
    assert words_of("VisitLog") == ["visit", "log"]
    assert words_of("pass_") == ["pass"]
    assert identifiers('int kept_; // told\nstd::visit("meet");') == {"int", "kept_"}


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in (ROOT / "core").glob("*/README.md")))
def test_a_folder_has_no_identifier_with_a_word_that_the_field_has_another_for(folder: str) -> None:
    found = {}
    for file in sorted((ROOT / "core" / folder).glob("*.?pp")):
        for identifier in identifiers(file.read_text(encoding="utf-8")):
            for word in words_of(identifier):
                if word in REPLACED and (folder, word) not in MEANT_OTHERWISE:
                    found[f"{file.name}: {identifier}"] = REPLACED[word]
    assert found == {}

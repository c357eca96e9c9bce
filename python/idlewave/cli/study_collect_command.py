"""``idlewave study collect``: the table and the page of a study that the tasks of an array have computed."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import click

from ..errors import InputError
from ..escaping import name_of, quote
from ..studies.job_array import ARRAY, read_array
from .named_studies import STUDIES_OF_CASES, named_study
from .option_types import as_json


@click.command("collect")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@as_json
@click.pass_context
def study_collect(context: click.Context, folder: Path, as_json: bool) -> None:
    """Check that the tasks of `idlewave study NAME --array` have computed all rows in FOLDER, and write the table and
    the page."""
    array = read_array(folder)
    if array.study not in STUDIES_OF_CASES:
        raise InputError(f"{name_of(folder / ARRAY)}: study: expected a named study, found {quote(array.study)}")
    if not array.directory.is_dir():
        raise InputError(f"{name_of(folder / ARRAY)}: directory: expected one, found {quote(str(array.directory))}")
    words = [*array.words, "--output", str(folder.absolute()), "--collect"]
    with chdir(array.directory):
        command = named_study(array.study)
        with command.make_context(f"study {array.study}", [*words, *(["--json"] if as_json else [])], context) as own:
            command.invoke(own)

"""The one way in: every file that Python reads is read here, checked against what is expected of it.

files: regular files, bounded, and those that data names.  decoding: JSON and TOML, of bounded depth.
checking: what they hold, against a type; refusal: the words where it does not fit; kinds: the types of single values.
tables: Parquet and CSV.  bounds: how much.

Whatever is wrong becomes an InputError, FILE: KEY: expected X, found Y. What a type cannot say (this ascends, that is
one of those) is checked where it is used.
"""

from .checking import checked, load_json, read_json, read_toml
from .files import below, read_bytes, read_text

__all__ = ["below", "checked", "load_json", "read_bytes", "read_json", "read_text", "read_toml"]

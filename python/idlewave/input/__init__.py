"""The one way in: all Python code reads files through this folder, which checks them against what is expected.

files: the bytes of regular files and pipes.  decoding: JSON and TOML of bounded depth.  bounds: how much is read.
validation: decoded values, checked against a type by msgspec.  validation_errors: the message of a value that does not
fit its type.  value_types: the types of single values.  tables: Parquet and CSV.

Whatever is wrong becomes an InputError, FILE: KEY: expected X, found Y. A condition on several keys of one table stands
in the `__post_init__` of its Struct.
"""

"""machine.toml: its schemas, its one reader, its one writer.

network_schema, noise_schema: the tables of the file, as types that check them.  reader: text to Machine.
writer: Machine to text.
"""

"""Performance over time: what a recording of `idlewave measure overtime` says of a network's variability."""

"""Performance over time: what a recording of `idlewave measure overtime` says of a network's variability.

recording: the folder, read.  series: its phases by test, pair and size.  changes: change points, drift, how long
performance stays stable.  correlation: counters that go with performance.  prediction: what the last phases say of the
next.  allocation: whether an allocation of nodes fits what a job needs.
"""

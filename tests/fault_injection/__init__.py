"""Faults of a disk, one at a time, in everything that writes files.

shim.c        a library that makes the n-th file operation below a directory fail, or kills
shim.py       compiles and loads it
loop.py       runs a writer with a fault at n = 1, 2, ... until it succeeds without one
writers.py    everything that writes: formats, tables, stores, spill files, studies, downloads
__main__.py   the whole table, which takes up to an hour: ./scripts/fault-injection
"""

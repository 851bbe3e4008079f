"""Benchmarks of hopvec against its competitors; start with scripts/bench."""

"""Benchmarks of hopvec against its peers; run them with scripts/bench."""

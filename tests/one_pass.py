"""FastRP with one pass: the algorithm of the paper, which most tests of the engine are about."""

from hopvec import FastRP


def one_pass(**parameters):
    """FastRP with one pass, and principal components as they are."""
    return FastRP(**{"passes": 1, "spectrum": 1.0, **parameters})

"""Methods and the parameters that contract tests run them with."""

import pytest

from hopvec.methods import METHODS

# Parameters to test; a method without an entry is tested with its defaults.
VARIANTS = {
    "fastrp": [
        {"normalize": normalize, "precision": precision, "passes": 1, **more}
        for normalize in ("none", "authors", "full")
        for precision in ("float32", "float16")
        for more in (
            {"dim": 64},
            {
                "dim": 40,
                "weights": (1, -0.5, 0, 2),
                "self_weight": 0.5,
                "beta": -0.6,
                "sparsity": 3,
            },
            {"dim": 33, "weights": (1, 1, 1), "sparsity": 50},
        )
    ]
    + [
        {"passes": 1, **options}
        for options in (
            {"dim": 40, "projection": "gaussian", "precision": "float16"},
            {"dim": 24, "normalize": "orders"},
            {"dim": 17, "oversample": 3, "self_weight": 0.5, "sparsity": 3},
            {
                "dim": 16,
                "oversample": 2,
                "normalize": "none",
                "spectrum": 0.5,
                "precision": "float16",
            },
            {"dim": 32, "direction": "in", "oversample": 2},
            {"dim": 32, "direction": "both", "normalize": "orders"},
            {"dim": 24, "degree_weight": 2.0},
        )
    ]
    + [
        {"dim": 40, "beta": 0.5},
        {"dim": 16, "passes": 2, "weights": (0, 1), "refine_weights": (1, 0, -0.5)},
        {"dim": 17, "passes": 3, "oversample": 2, "self_weight": 0.5, "sparsity": 3},
        {"dim": 32, "passes": 2, "precision": "float16", "direction": "both"},
        {"dim": 24, "passes": 2, "degree_weight": 2.0, "weights": (1, 1), "direction": "in"},
    ],
    "randne": [
        {"dim": 33},
        {"dim": 24, "weights": (0, 1, -0.5), "matrix": "adjacency"},
        {"dim": 40, "weights": (2, 0, 1), "precision": "float16"},
    ],
    "deepwalk": [
        {"dim": 16, "walks": 2, "length": 8, "window": 3},
        {"dim": 16, "walks": 2, "length": 8, "window": 3, "loss": "hierarchical-softmax"},
    ],
    "node2vec": [{"dim": 16, "walks": 2, "length": 8, "window": 3, "p": 0.5, "q": 2}],
    "line": [
        {"dim": 16, "samples": 5000},
        {"dim": 33, "samples": 5000, "order": "first", "negatives": 2},
        {"dim": 16, "samples": 5000, "order": "second", "learning_rate": 0.3},
    ],
    "netmf": [{"dim": 8, "window": 3}],
    "grarep": [{"dim": 6, "steps": 2}],
}
# One quick set of parameters for each method.
QUICK = {name: VARIANTS.get(name, [{}])[0] for name in METHODS}
CASES = [(name, options) for name in METHODS for options in VARIANTS.get(name, [{}])]

every_method = pytest.mark.parametrize("name", METHODS)

"""Bipartite graphs: both sides in one space, with odd and even orders."""

import logging

import numpy as np
import pytest

from hopvec import FastRP, Graph, ParameterError
from hopvec.evaluate import evaluate_recommendation, hold_out

# Two groups of users, each with its own items.
RANDOM = np.random.default_rng(0)
USER = RANDOM.integers(0, 200, 6000)
ITEM = 50 * (USER % 2) + RANDOM.integers(0, 50, 6000)
GRAPH = Graph.from_bipartite(USER, ITEM, prefixes=("user ", "item "))


def cosines(method):
    """The mean cosine of users and items of the same group, and of different groups."""
    embedding = method.embed(GRAPH)
    users = embedding[[f"user {number}" for number in range(200)]]
    items = embedding[[f"item {number}" for number in range(100)]]
    users, items = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (users, items))
    same = (np.arange(200) % 2)[:, None] == (np.arange(100) // 50)[None, :]
    products = users @ items.T
    return products[same].mean(), products[~same].mean()


def test_both_sides_share_one_space_if_odd_and_even_orders_have_weights():
    same, other = cosines(FastRP(dim=128))
    assert same > 0.5
    assert other < -0.5


def test_weights_of_only_odd_or_only_even_orders_are_rejected():
    for weights, kind in (((0, 0, 1), "odd"), ((0, 1, 0, 1), "even")):
        with pytest.raises(ParameterError, match=f"only {kind} orders have a weight"):
            FastRP(dim=16, weights=weights).embed(GRAPH)
    FastRP(dim=16, weights=(0, 0, 1), self_weight=1).embed(GRAPH)  # order 0 is even


def test_unequal_weights_cause_a_warning(caplog):
    with caplog.at_level(logging.WARNING, "hopvec"):
        FastRP(dim=16, weights=(0, 0, 1, 4)).embed(GRAPH)
    assert "odd orders add up to 1, those of even orders to 4" in caplog.text
    caplog.clear()
    FastRP(dim=16).embed(GRAPH)
    assert not caplog.records


def test_the_target_side_is_recommended():
    held_out = hold_out(GRAPH, share=0.1, negatives=0)
    embedding = FastRP(dim=64).embed(held_out.training)
    found = evaluate_recommendation(embedding, held_out, scores=["cosine"])
    assert found.candidates == 100
    assert found.nodes == len(held_out.edges["source"].unique())

"""Edges between numbered people, most of them within a community: number modulo communities."""

import random


def community_edges(people, communities, edges, within=0.8, seed=0):
    """Pairs of people from 1 on; everyone has an edge, and none is a loop."""
    draw = random.Random(seed)
    pairs = []
    for number in range(edges):
        one = number % people + 1
        other = one
        while other == one:
            if draw.random() < within:
                other = (one + communities * draw.randrange(people // communities) - 1) % people + 1
            else:
                other = draw.randrange(people) + 1
        pairs.append((one, other))
    return pairs

"""Comparison of several embeddings in a real browser."""

import browsing
import explored

from hopvec.view.explorer import Exploration

pytestmark = browsing.needs_chromium

SOME = 17


def test_two_maps_are_shown_side_by_side(visit, compared_address):
    there = visit(compared_address)
    page = there.open()
    assert page.locator(".map .title").all_inner_texts() == ["one", "two"]
    assert [there.count(canvas=side) > 1_000 for side in (0, 1)] == [True, True]


def test_neighbors_in_each_embedding_with_shared_ones_marked(visit, compared_address, comparison):
    there = visit(compared_address)
    page = there.open()
    page.mouse.click(*there.position(SOME, side=1))
    there.picked(f"node-{SOME}")
    page.locator("#count").select_option("50")
    page.wait_for_function("() => document.querySelectorAll('#near tbody tr').length === 50")
    one, two = comparison._neighborhood(SOME, 50)["near"]
    names = [[card["name"] for card in near] for near in (one, two)]
    shared = set(names[0]) & set(names[1])
    assert 0 < len(shared) < 50
    cells = page.locator("#near td.side").evaluate_all(
        "cells => cells.map(cell => [cell.querySelector('.go').firstChild.data, "
        "cell.classList.contains('shared')])"
    )
    flat = [name for pair in zip(*names, strict=True) for name in pair]
    assert [marked for _, marked in cells] == [name in shared for name in flat]
    plain = [(cell[0], name) for cell, name in zip(cells, flat, strict=True) if "node-" in name]
    assert all(text == name for text, name in plain)
    text = page.locator(".overlaps").inner_text()
    assert f"{2 * len(shared)} %" in text
    assert f"{len(shared)} of 50 shared by one and two" in text


def test_three_embeddings_have_three_overlaps(serve, visit):
    three = {f"seed {seed}": explored.embedding(seed) for seed in range(3)}
    there = visit(serve(Exploration.from_embeddings(three, layout="pca")))
    page = there.open(f"#node=node-{SOME}&k=20")
    assert page.locator(".map").count() == 3
    assert page.locator(".overlaps p").count() == 3
    assert page.locator("#near td.side").count() == 60

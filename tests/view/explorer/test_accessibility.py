"""Accessibility of every state of the page, checked by axe-core."""

import browsing
import pytest

pytestmark = browsing.needs_chromium

PHONE = {"viewport": {"width": 375, "height": 720}}


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]


def test_axe_finds_nothing_wrong_on_the_way_to_a_node(visit, address):
    there = visit(address, bypass_csp=True)
    page = there.open()
    assert violations(page) == []
    page.locator("#search").type("node-1")
    page.wait_for_selector("#completions li")
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [{}, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_wrong_with_a_node(visit, address, scheme, size):
    there = visit(address, color_scheme=scheme, bypass_csp=True, **size)
    page = there.open("#node=node-17&color=degree")
    assert page.locator("#near, #links, #edges").count() == 3
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_a_comparison(visit, compared_address, scheme):
    there = visit(compared_address, color_scheme=scheme, bypass_csp=True)
    page = there.open("#node=node-17&k=50&only=green")
    assert page.locator(".shared").count() > 0
    assert violations(page) == []


def test_the_number_of_neighbors_is_announced(visit, address):
    there = visit(address)
    page = there.open("#node=node-17")
    assert page.locator("#status[aria-live=polite]").inner_text() == "10 neighbors of node-17"

"""The page in a real browser: drawing, pointer and keyboard."""

from dataclasses import replace

import browsing
import explored
import pytest
from browsing import COLORS

from hopvec.view.explorer import Exploration

pytestmark = browsing.needs_chromium

SOME = 17


@pytest.fixture
def here(visit, address):
    """A visit of the page at its initial view."""
    begun = visit(address)
    begun.open()
    return begun


def test_a_load_draws_the_points_of_every_class(here):
    assert here.count() > 2_000
    for color in COLORS.values():
        assert here.count(color) > 500
    assert here.page.locator("#summary").inner_text() == "300 nodes · 887 edges · Planted 8"


def test_two_loads_give_the_same_canvas(here, visit, address):
    again = visit(address)
    again.open()
    assert again.drawn() == here.drawn()


def test_the_wheel_zooms_at_the_pointer_and_0_shows_all_again(here):
    before, page = here.drawn(), here.page
    where = here.position(SOME)
    page.mouse.move(*where)
    for _ in range(3):
        page.mouse.wheel(0, -300)
    here.settled()
    assert here.drawn() != before
    page.mouse.click(*where)  # still the same node there
    here.picked(f"node-{SOME}")
    page.go_back()
    page.mouse.move(5, 5)
    page.locator("canvas.points").press("0")
    page.locator("#search").focus()
    here.settled()
    assert here.drawn() == before


def test_dragging_moves_the_map(here):
    page = here.page
    x, y = here.position(SOME)
    page.mouse.move(300, 700)
    page.mouse.down()
    page.mouse.move(400, 600, steps=4)
    page.mouse.up()
    page.mouse.click(x + 100, y - 100)
    here.picked(f"node-{SOME}")


def test_two_fingers_zoom(visit, address):
    there = visit(address, has_touch=True)
    page = there.open()
    before = there.drawn()
    touch = there.context.new_cdp_session(page)
    for kind, apart in (
        ("touchStart", 50),
        ("touchMove", 90),
        ("touchMove", 150),
        ("touchEnd", None),
    ):
        points = (
            [] if apart is None else [{"x": 400 - apart, "y": 400}, {"x": 400 + apart, "y": 400}]
        )
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    there.settled()
    zoom = float(
        page.evaluate("new URLSearchParams(location.hash.slice(1)).get('view')").split(",")[2]
    )
    assert 2.5 < zoom < 3.5
    assert there.drawn() != before


def test_a_click_shows_the_exact_neighbors_and_draws_lines(here, exploration):
    before = here.drawn()
    here.page.mouse.click(*here.position(SOME))
    here.picked(f"node-{SOME}")
    expected = exploration._neighborhood(SOME, 10)
    assert here.names() == [card["name"] for card in expected["near"][0]]
    first = here.page.locator("#near tbody tr").first.inner_text().split()
    assert first[2:] == [f"{expected['near'][0][0]['similarity']:.3f}", "5", "blue"]
    points, over = here.drawn()
    assert points == before[0]
    assert over != before[1]


def test_edges_are_marked_among_the_neighbors(here, exploration):
    here.page.mouse.click(*here.position(SOME))
    here.picked(f"node-{SOME}")
    here.page.locator("#count").select_option("100")
    here.page.wait_for_function("() => document.querySelectorAll('#near tbody tr').length === 100")
    expected = exploration._neighborhood(SOME, 100)
    joined = here.page.locator("#near tr:has([aria-label='connected by an edge']) .go")
    assert joined.all_inner_texts() == [c["name"] for c in expected["near"][0] if c["edge"]]
    assert here.names("edges") == [card["name"] for card in expected["edges"]["nodes"]]


def test_likely_links_are_listed_with_their_evidence_and_drawn(here, exploration):
    page = here.page
    page.mouse.click(*here.position(SOME))
    here.picked(f"node-{SOME}")
    links = exploration._neighborhood(SOME, 10)["links"]
    assert here.names("links") == [card["name"] for card in links]
    shown = page.locator("#links tbody tr").all_inner_texts()
    for row, card in zip(shown, links, strict=True):
        number = card["common"]
        words = f"{number or 'no'} common neighbor{'' if number == 1 else 's'}"
        assert words in row
        assert row.split()[-3:] == [f"{card['score']:.3f}", str(card["degree"]), card["label"]]
    page.locator("h2").hover()
    here.settled()
    before = here.drawn()
    page.locator("#links tbody tr").last.hover()
    here.settled()
    assert here.drawn()[1] != before[1]  # its node is highlighted
    page.locator("#links .go").last.click()
    here.picked(links[-1]["name"])


def test_likely_links_work_with_the_keyboard(visit, address):
    there = visit(address)
    page = there.open(f"#node=node-{SOME}")
    first = page.locator("#links .go").first
    first.focus()
    page.keyboard.press("Tab")
    name = page.evaluate("document.activeElement.textContent")
    assert name == there.names("links")[1]
    page.keyboard.press("Enter")
    there.picked(name)


def test_likely_links_are_drawn_on_the_map(visit, serve, exploration):
    drawn = []
    for shown in (exploration, replace(exploration, _links=None)):
        there = visit(serve(shown))
        page = there.open(f"#node=node-{SOME}")
        assert page.locator("#links").count() == (shown._links is not None)
        drawn.append(there.drawn())
    (points, over), (same_points, without) = drawn
    assert points == same_points
    assert over != without


@pytest.mark.parametrize(
    ("graph", "note", "evidence"),
    [
        (explored.graph, "new edges, by cosine + 0.1\N{NO-BREAK SPACE}", " common neighbor"),
        (explored.directed_graph, "new outgoing edges", " common neighbor"),
        (explored.bipartite_graph, "new edges to the other side", " of its neighbors"),
    ],
)
def test_the_evidence_for_links_is_explained(visit, serve, graph, note, evidence):
    one = {"one": explored.embedding()}
    there = visit(serve(Exploration.from_embeddings(one, graph=graph(), layout="pca")))
    page = there.open("#node=node-100&k=5")
    assert note in page.locator("#panel .note", has_text="The most likely").inner_text()
    rows = page.locator("#links .small").all_inner_texts()
    assert len(rows) == 5
    assert all(evidence in row for row in rows)


def test_without_a_graph_the_page_has_no_likely_links(visit, compared_address):
    page = visit(compared_address).open(f"#node=node-{SOME}")
    assert page.locator("h3").all_inner_texts() == ["Nearest neighbors"]


def test_a_zero_vector_has_no_likely_links(visit, address):
    page = visit(address).open(f"#node=node-{explored.NODES - 1}")
    assert page.locator("h3").all_inner_texts() == ["Nearest neighbors", "Likely links", "Edges"]
    assert page.get_by_text("None: the vector of this node is zero.").count() == 1
    assert page.locator("#links").count() == 0


def test_likely_links_are_copied_as_csv(visit, address, exploration):
    there = visit(address, permissions=["clipboard-read", "clipboard-write"])
    page = there.open(f"#node=node-{SOME}")
    page.locator(".head", has_text="Likely links").locator(".act").click()
    page.wait_for_selector("#status.shown")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    head = "node,rank,recommended,score,common_neighbors,degree,label"
    link = exploration._neighborhood(SOME, 10)["links"][0]
    assert (lines[0], len(lines)) == (head, 11)
    assert lines[1].startswith(f"node-{SOME},1,{link['name']},")
    assert lines[1].endswith(f",{link['common']},{link['degree']},{link['label']}")


def test_the_name_of_a_node_is_shown_on_hover(here):
    here.page.mouse.move(*here.position(SOME))
    here.page.wait_for_selector(".tooltip:not([hidden])")
    assert here.page.locator(".tooltip").inner_text() == f"node-{SOME} · blue"
    here.page.mouse.move(3, 3)
    here.page.wait_for_selector(".tooltip", state="hidden")


def test_a_search_completes_and_goes_to_the_node(here):
    page = here.page
    page.locator("#search").type("NODE-12")
    here.completed("node-12")
    page.locator("#completions li", has_text="node-120").click()
    here.picked("node-120")
    assert page.locator("#completions").is_hidden()
    assert "node=node-120" in page.url


@pytest.mark.parametrize("size", [(1280, 800), (375, 720)])
def test_a_search_fits_the_node_and_all_its_neighbors(visit, address, exploration, size):
    there = visit(address, viewport={"width": size[0], "height": size[1]})
    page = there.open()
    for node in (SOME, 120, 250):
        page.locator("#search").fill(f"node-{node}")
        there.completed(f"node-{node}")
        page.keyboard.press("Enter")
        there.picked(f"node-{node}")
        page.wait_for_function(f"location.hash.includes('node=node-{node}&')")
        page.wait_for_timeout(800)  # the flight, and the link that follows
        near = [card["node"] for card in exploration._neighborhood(node, 10)["near"][0]]
        for shown in (node, *near):
            assert page.evaluate(
                """async (node) => {
                    const headers = { 'X-Hopvec': 'explore' };
                    const answer = await fetch('/api/positions/0', { headers });
                    const plane = new Float32Array(await answer.arrayBuffer());
                    const view = new URLSearchParams(location.hash.slice(1)).get('view');
                    const [x, y, zoom] = view.split(',').map(Number);
                    const box = document.querySelector('canvas.points').getBoundingClientRect();
                    const unit = Math.min(box.width, box.height) / 2 * 0.94 * zoom;
                    return Math.abs(plane[2 * node] - x) * unit < box.width / 2
                        && Math.abs(plane[2 * node + 1] - y) * unit < box.height / 2;
                }""",
                shown,
            )


def test_points_behind_a_selection_stay_readable_in_the_dark(visit, address):
    there = visit(address, color_scheme="dark")
    page = there.open()
    page.mouse.click(*there.position(SOME))
    there.picked(f"node-{SOME}")
    page.wait_for_function("getComputedStyle(document.querySelector('canvas.points')).opacity < 1")
    opacity = page.evaluate("getComputedStyle(document.querySelector('canvas.points')).opacity")
    assert float(opacity) >= 0.8


def test_a_search_without_a_match_says_so_in_the_box(here):
    page = here.page
    page.locator("#search").fill("nothing like that")
    page.wait_for_selector(".search .none:not([hidden])")
    box, bar = (page.locator(each).bounding_box() for each in (".search .none", ".search input"))
    assert bar["x"] < box["x"] < box["x"] + box["width"] < bar["x"] + bar["width"]
    assert page.locator("#status.shown").count() == 0
    page.locator("#search").fill("")
    page.wait_for_selector(".search .none", state="hidden")


def test_enter_goes_to_the_text_as_typed_not_to_an_earlier_completion(here):
    page = here.page
    page.locator("#search").type("node-11")
    here.completed("node-11")
    page.evaluate(  # both in one task: no completion arrives in between
        """() => {
            const input = document.querySelector('#search');
            input.value = 'node-117';
            input.dispatchEvent(new Event('input'));
            input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
        }"""
    )
    here.picked("node-117")


def test_everything_works_with_the_keyboard(here):
    page, press = here.page, here.page.keyboard.press
    press("/")
    page.keyboard.type("node-17")
    here.completed("node-17")
    press("ArrowDown")
    second = page.locator("[aria-selected=true] .name:not(.label)").inner_text()
    press("ArrowUp")
    press("Enter")
    here.picked("node-17")
    assert second.startswith("node-17")
    reached = []
    for _ in range(40):
        press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.classList[0]")
        )
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached[-1]
        if reached[-1] == "go":
            break
    assert {"color", "save", "theme", "points", "panel", "count", "act"} <= set(reached)
    neighbor = page.evaluate("document.activeElement.textContent")
    press("Enter")
    here.picked(neighbor)
    page.locator("canvas.points").focus()
    before = here.drawn()
    for key in ("ArrowLeft", "ArrowUp", "+", "+", "ArrowRight", "-"):
        press(key)
    here.settled()
    assert here.drawn() != before
    press("Enter")
    here.settled()
    assert page.locator("#panel h2").inner_text() != ""


def test_a_class_of_the_legend_can_be_isolated(here, exploration):
    page = here.page
    before = {name: here.count(color) for name, color in COLORS.items()}
    button = page.locator("#entries button", has_text="green")
    button.click()
    page.wait_for_selector("#entries button[aria-pressed=true]")
    here.settled()
    code = exploration._columns[0].classes.index("green")
    own = list(COLORS)[code]
    assert here.count(COLORS[own]) > before[own] / 2
    assert all(here.count(COLORS[name]) == 0 for name in COLORS if name != own)
    assert "only=green" in page.url
    button.click()
    here.settled()
    assert {name: here.count(color) for name, color in COLORS.items()} == before


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_legend_covers_no_part_of_the_map(here, size):
    page = here.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.locator("#legend").evaluate("legend => (legend.open = true)")
    here.settled()
    maps, legend = (page.locator(name).bounding_box() for name in ("#maps", "#legend"))
    assert maps["y"] + maps["height"] <= legend["y"] + 0.5
    assert maps["height"] > size[1] / 5


def test_points_are_colored_by_another_column(here):
    before = here.drawn()
    here.page.locator("#color").select_option(label="degree")
    here.page.wait_for_selector("#entries .scale")
    here.settled()
    assert here.drawn() != before
    assert here.count(COLORS["red"], far=40) == 0
    assert "color=degree" in here.page.url


def test_a_link_leads_to_the_same_node_view_and_colors(here, visit, address):
    page = here.page
    page.locator("#color").select_option(label="degree")
    page.wait_for_selector("#entries .scale")
    page.mouse.click(*here.position(SOME))
    here.picked(f"node-{SOME}")
    page.locator("canvas.points").press("+")
    page.locator("#search").focus()
    page.mouse.move(5, 5)
    here.settled()
    other = visit(address)
    other.open(page.url.removeprefix(address))
    other.page.locator("#search").focus()
    other.settled()
    assert other.page.locator("#panel h2").inner_text() == f"node-{SOME}"
    assert other.drawn() == here.drawn()


def test_back_leads_to_the_node_before(here):
    page = here.page
    for node in (SOME, 40):
        page.locator("#search").fill(f"node-{node}")
        here.completed(f"node-{node}")
        page.keyboard.press("Enter")
        here.picked(f"node-{node}")
    page.go_back()
    here.picked(f"node-{SOME}")
    page.go_back()
    here.picked("Select a node")


@pytest.mark.parametrize("name", explored.HOSTILE)
def test_a_hostile_name_is_shown_as_text(here, name):
    page = here.page
    page.locator("#search").fill(name.partition("\n")[0][:300])
    page.wait_for_selector("#completions li")
    page.keyboard.press("Enter")
    here.picked(name.replace("\n", "␊"))
    here.settled()
    assert page.locator("#panel script, #panel img, #completions script").count() == 0
    assert page.title() == "planted · hopvec explorer"
    shown = page.evaluate(
        "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert shown[0] <= shown[1]
    again = page.url
    page.goto("about:blank")
    page.goto(again)
    here.picked(name.replace("\n", "␊"))


def test_a_table_is_copied_as_csv(visit, address, exploration):
    there = visit(address, permissions=["clipboard-read", "clipboard-write"])
    page = there.open("#node=node-16&k=100")
    page.locator(".act").first.click()
    page.wait_for_selector("#status.shown")
    lines = page.evaluate("navigator.clipboard.readText()")
    import csv
    import io

    head, *rows = csv.reader(io.StringIO(lines, newline=""))
    assert head == ["node", "rank", "neighbor", "similarity", "degree", "label", "edge"]
    near = exploration._neighborhood(16, 100)["near"][0]
    assert [row[2] for row in rows] == [card["name"] for card in near]
    assert [float(row[3]) for row in rows] == [card["similarity"] for card in near]


def test_the_map_is_saved_as_a_picture(here, tmp_path):
    with here.page.expect_download() as saving:
        here.page.locator("#save").click()
    saving.value.save_as(tmp_path / "map.png")
    assert saving.value.suggested_filename == "map.png"
    assert (tmp_path / "map.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / "map.png").stat().st_size > 5_000


def test_dark_mode_follows_the_system_and_the_button(visit, address):
    there = visit(address, color_scheme="dark")
    page = there.open()
    dark = (15, 17, 20)
    assert there.count(dark, far=3) > 100_000
    assert there.count() > 2_000
    page.locator("#theme").click()
    there.settled()
    assert there.count(dark, far=3) == 0
    page = there.open()  # and it is remembered
    assert there.count(dark, far=3) == 0


def test_it_fits_a_phone(visit, address):
    there = visit(address, viewport={"width": 375, "height": 720}, device_scale_factor=2)
    page = there.open(f"#node=node-{SOME}")
    there.picked(f"node-{SOME}")
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    for part in ("#maps", "#panel", "#search"):
        box = page.locator(part).bounding_box()
        assert box["width"] > 300
        assert box["y"] + min(box["height"], 40) < 720
    assert there.count() > 1_000


def test_a_stopped_server_is_reported(exploration, visit):
    with browsing.served(exploration) as address:
        there = visit(address)
        page = there.open()
    there.ignored = "ERR_CONNECTION_REFUSED"  # reported by the browser itself
    page.locator("#search").type("n")
    page.wait_for_selector("#status.shown")
    assert "Start it again" in page.locator("#status").inner_text()


def test_a_page_with_a_token_works(exploration, serve, visit):
    there = visit(serve(exploration, token="secret"))
    page = there.open(f"?token=secret#node=node-{SOME}")
    there.picked(f"node-{SOME}")
    assert there.count() > 1_000
    page.locator("#near .go").first.click()
    page.wait_for_function("() => location.search === '?token=secret' && location.hash.length > 8")

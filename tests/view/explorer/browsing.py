"""Helpers to visit the explorer with a real browser."""

import shutil
from contextlib import contextmanager
from threading import Thread

import pytest

from hopvec.view.explorer.server import LOCAL, guarded, listening

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
COLORS = {"blue": (63, 144, 218), "orange": (255, 169, 14), "red": (189, 31, 1)}  # by code

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: apt-get install chromium"
)


@contextmanager
def served(exploration, token=None):
    """Runs a server on a free port and yields its URL."""
    import uvicorn

    taken = listening(LOCAL, 0)
    port = taken.getsockname()[1]
    host = LOCAL if token is None else "0.0.0.0"
    app = guarded(exploration, host, port, token)
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="critical"))
    thread = Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    try:
        yield f"http://{LOCAL}:{port}/"
    finally:
        server.should_exit = True
        thread.join()
        taken.close()


class Visit:
    """A page of the explorer, and the errors on it."""

    def __init__(self, browser, address, **context):
        settings = {"viewport": {"width": 1200, "height": 800}, "reduced_motion": "reduce"}
        self.context = browser.new_context(**settings | context)
        self.page = self.context.new_page()
        self.address, self.errors, self.ignored = address, [], "nothing"
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._on_console)
        self.page.on("request", self._on_request)

    def _on_console(self, message):
        if message.type in ("error", "warning") and self.ignored not in message.text:
            self.errors.append(message.text)

    def _on_request(self, request):
        if not request.url.startswith((self.address, "blob:")):
            self.errors.append(f"requested {request.url}")

    def open(self, link=""):
        """Opens a link and waits until the map is drawn."""
        self.page.goto("about:blank")  # or a link to the same page would only move it
        self.page.goto(self.address + link)
        self.page.wait_for_selector("html[data-ready]", timeout=20_000)
        return self.page

    def picked(self, name):
        """Waits until a node is selected."""
        self.page.wait_for_function(
            "name => document.querySelector('#panel h2')?.textContent === name", arg=name
        )

    def completed(self, name):
        """Waits until a name is the first completion of the search."""
        self.page.wait_for_function(
            """name => {
                const list = document.querySelector('#completions');
                return !list.hidden && list.querySelector('.name')?.textContent === name;
            }""",
            arg=name,
        )

    def settled(self):
        """Waits until the map is drawn and the URL is updated."""
        self.page.wait_for_timeout(250)
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => done()))")

    def count(self, color=None, canvas=0, far=60):
        """The number of pixels of a map that are close to a color, or that are not gray."""
        return self.page.evaluate(
            """([color, number, far]) => {
                const canvas = document.querySelectorAll('canvas.points')[number];
                const { width, height } = canvas, copy = new OffscreenCanvas(width, height);
                const context = copy.getContext('2d', { willReadFrequently: true });
                context.drawImage(canvas, 0, 0);
                const { data } = context.getImageData(0, 0, width, height);
                let count = 0;
                for (let at = 0; at < data.length; at += 4) {
                    const [r, g, b] = [data[at], data[at + 1], data[at + 2]];
                    const gray = Math.max(r, g, b) - Math.min(r, g, b) <= 40;
                    const [red, green, blue] = color ?? [0, 0, 0];
                    if (color ? Math.hypot(r - red, g - green, b - blue) < far : !gray) count++;
                }
                return count;
            }""",
            [color, canvas, far],
        )

    def drawn(self):
        """All canvases of the maps as data URLs, to compare them."""
        return self.page.evaluate(
            "() => [...document.querySelectorAll('.map canvas')].map(canvas => canvas.toDataURL())"
        )

    def position(self, node, side=0):
        """The position of a node on the page while all nodes are visible."""
        return self.page.evaluate(
            """async ([node, side]) => {
                const headers = { 'X-Hopvec': 'explore' };
                const answer = await fetch(`/api/positions/${side}`, { headers });
                const plane = new Float32Array(await answer.arrayBuffer());
                const [x, y] = plane.subarray(2 * node, 2 * node + 2);
                const canvas = document.querySelectorAll('canvas.points')[side];
                const box = canvas.getBoundingClientRect();
                const unit = Math.min(box.width, box.height) / 2 * 0.94;
                return [box.left + box.width / 2 + x * unit, box.top + box.height / 2 + y * unit];
            }""",
            [node, side],
        )

    def names(self, table="near"):
        """The names in a table, in order."""
        return self.page.locator(f"#{table} .go").all_inner_texts()

    def close(self):
        """Closes the page; fails if there were errors on it."""
        self.context.close()
        assert not self.errors, self.errors

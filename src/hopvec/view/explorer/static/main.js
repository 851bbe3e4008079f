// The page: its state, and how it responds to actions of the user.

import { fetchJson, fetchArray, latestOnly } from "./api.js";
import { classColor, colorTable, packed, themeColors } from "./colors.js";
import { showLegend } from "./legend.js";
import { readLink, writeLink } from "./link.js";
import { MapView } from "./map.js";
import { captionsOf } from "./overlay.js";
import { showHelp, showNode } from "./panel.js";
import { savePicture } from "./picture.js";
import { makeSearch } from "./search.js";
import { count, element, announce, printable } from "./text.js";

const DEFAULT_COUNT = 10,
  MAX_COUNT = 200;
const byId = (id) => document.getElementById(id);

class Page {
  constructor(about) {
    this.about = about;
    this.maps = [];
    this.column = null; // index of the column that determines colors
    this.legend = null;
    this.codes = null;
    this.isolated = null; // code of the only class shown, or null
    this.mask = null; // 1 for the nodes of the isolated class
    this.found = null; // the selected node
    this.k = DEFAULT_COUNT;
    this.requestNode = latestOnly();
    this.cards = new Map();
  }

  async start() {
    this.setUp();
    const link = readLink();
    const positions = this.about.embeddings.map((_, side) => fetchArray(`positions/${side}`, Float32Array));
    const colored = this.setColumn(this.columnOf(link));
    this.makeMaps(await Promise.all(positions));
    await colored;
    await this.restore(link);
    this.paint();
    for (const map of this.maps) map.drawNow();
    document.documentElement.dataset.ready = "true";
    performance.mark("ready");
  }

  // Fills in everything around the maps.
  setUp() {
    const { about } = this,
      names = about.embeddings.map(({ name }) => printable(name, 40));
    const summary = [`${count(about.nodes)} nodes`];
    if (about.edges !== null) summary.push(`${count(about.edges)} edges`);
    summary.push(
      ...about.embeddings.map(
        ({ method, dim }, side) => `${names.length > 1 ? names[side] : (method ?? names[side])} ${dim}`,
      ),
    );
    byId("summary").textContent = summary.join(" · ");
    document.title = `${names.join(", ")} · hopvec explorer`;
    document.querySelector("main").classList.toggle("compare", names.length > 1);
    document.querySelector("main").classList.toggle("three", names.length > 2);
    byId("color").replaceChildren(
      ...about.columns.map((name, number) => element("option", { value: number }, printable(name, 60))),
    );
    document.querySelector(".color").hidden = !about.columns.length;
    byId("legend").hidden = !about.columns.length;
    byId("legend").open = !matchMedia("(max-width: 46rem)").matches;
    showHelp(byId("panel"), about);
  }

  makeMaps(positions) {
    this.maps = this.about.embeddings.map(({ name }, side) => {
      const keys =
        "Arrow keys move the map, plus and minus zoom, 0 shows all, Enter selects the node in the center.";
      const label = `Map of ${count(this.about.nodes)} nodes, ${printable(name, 40)}. ${keys}`;
      return new MapView(
        byId("maps"),
        { label, caption: this.about.embeddings.length > 1 ? name : null },
        positions[side],
        {
          pick: (node) => this.go(node, { fly: false }),
          hover: (node) => this.card(node),
          moved: () => this.saveLink(),
        },
      );
    });
  }

  // Restores the state of a link.
  async restore(link) {
    this.k = link.k ? Math.min(MAX_COUNT, Math.max(1, link.k)) : DEFAULT_COUNT;
    if (this.columnOf(link) !== this.column) await this.setColumn(this.columnOf(link));
    const only = this.legend?.classes?.indexOf(link.only) ?? -1;
    await this.setIsolated(only >= 0 ? only : null);
    let node = link.node !== null && link.node < this.about.nodes ? link.node : null;
    if (link.name !== null)
      node = await fetchJson(`find?name=${encodeURIComponent(link.name)}`).then(
        (card) => card.node,
        () => null,
      );
    if (node === null) this.deselect();
    else if (node !== this.found?.node) await this.show(node, { fly: !link.views.length });
    this.maps.forEach((map, side) => {
      const view = link.views[side];
      if (view) map.move({ x: view[0], y: view[1], zoom: view[2] });
    });
  }

  // The index of the column in a link; the first column by default.
  columnOf(link) {
    return this.about.columns.length ? Math.max(0, this.about.columns.indexOf(link.color)) : null;
  }

  async setColumn(number) {
    this.column = number;
    this.isolated = null;
    if (number === null) return;
    byId("color").value = String(number);
    const [legend, codes] = await Promise.all([
      fetchJson(`columns/${number}`),
      fetchArray(`columns/${number}/codes`, Uint16Array),
    ]);
    if (this.column !== number) return;
    this.legend = legend;
    this.codes = codes;
    this.mask = null;
  }

  // Shows only one class, or all if the code is null.
  async setIsolated(code) {
    this.isolated = code;
    this.mask = null;
    if (code === null) return;
    const members = await fetchArray(`columns/${this.column}/members/${code}`, Uint32Array);
    if (this.isolated !== code) return;
    this.mask = new Uint8Array(this.about.nodes);
    for (const node of members) this.mask[node] = 1;
  }

  // Updates the colors of the maps and the legend.
  paint() {
    const theme = themeColors(this.maps[0].canvas),
      table = colorTable(this.legend, theme, this.isolated);
    for (const map of this.maps)
      map.paint({
        colors: table,
        codes: this.codes,
        mask: this.mask,
        isolated: this.isolated === null ? null : packed(classColor(this.isolated, theme, this.isolated)),
        captions:
          this.legend?.kind === "label" ? captionsOf(map.positions, this.codes, this.legend.classes) : [],
      });
    showLegend(byId("entries"), this.legend, theme, this.isolated, (code) => this.isolate(code));
  }

  async isolate(code) {
    const focused = document.activeElement?.dataset?.code;
    await this.setIsolated(code);
    this.paint();
    if (focused !== undefined) byId("entries").querySelector(`[data-code="${focused}"]`)?.focus();
    this.saveLink();
    announce(
      code === null
        ? "All classes"
        : `Only ${printable(this.legend.classes[code], 60)}: ${count(this.legend.sizes[code])} nodes`,
      { quietly: true },
    );
  }

  async recolor(number) {
    await this.setColumn(number);
    this.paint();
    this.saveLink();
  }

  // Selects a node and adds it to the history of the browser.
  async go(node, { fly = true } = {}) {
    await this.show(node, { fly });
    this.saveLink({ step: true });
  }

  async show(node, { fly }) {
    const found = await this.requestNode(`nodes/${node}?k=${this.k}`);
    if (found === null) return;
    this.found = found;
    showNode(byId("panel"), this.about, found, this.k, {
      go: (other) => reportErrors(this.go(other)),
      highlight: (other) => this.maps.forEach((map) => map.highlight(other)),
      setCount: (k) => {
        this.k = k;
        reportErrors(this.go(node, { fly: false }).then(() => byId("count").focus()));
      },
    });
    this.maps.forEach((map, side) => {
      const near = found.near[side],
        links = found.links ?? [],
        edges = found.edges?.nodes ?? [];
      map.select({ card: found, near, links, edges });
      if (fly) map.show([node, ...near.map((card) => card.node)]);
    });
    const neighbors = Math.max(...found.near.map((list) => list.length));
    announce(`${neighbors} neighbors of ${printable(found.name, 60)}`, { quietly: true });
  }

  deselect() {
    if (this.found === null) return;
    this.found = null;
    for (const map of this.maps) map.select(null);
    showHelp(byId("panel"), this.about);
  }

  saveLink({ step = false } = {}) {
    if (!document.documentElement.dataset.ready) return;
    clearTimeout(this.saving);
    const write = () =>
      writeLink(
        {
          card: this.found,
          k: this.k === DEFAULT_COUNT ? null : this.k,
          color: this.column ? this.about.columns[this.column] : null,
          only: this.isolated === null ? null : this.legend.classes[this.isolated],
          views: this.maps.map(({ view }) => [view.x, view.y, view.zoom]),
        },
        { step },
      );
    if (step) write();
    else this.saving = setTimeout(write, 150);
  }

  async card(node) {
    if (!this.cards.has(node)) {
      if (this.cards.size > 5000) this.cards.clear();
      this.cards.set(
        node,
        fetchJson(`names?nodes=${node}`).then(
          ([card]) => card,
          () => null,
        ),
      );
    }
    return this.cards.get(node);
  }
}

function reportErrors(work) {
  return work.catch((error) => announce(error.message));
}

function toggleTheme(page) {
  const dark = themeColors(page.maps[0].canvas).dark;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("hopvec-theme", document.documentElement.dataset.theme);
  } catch {
    /* storage is disabled */
  }
  page.paint();
}

async function start() {
  try {
    const theme = localStorage.getItem("hopvec-theme");
    if (theme) document.documentElement.dataset.theme = theme;
  } catch {
    /* storage is disabled */
  }
  const page = new Page(await fetchJson("about"));
  makeSearch(byId("search"), byId("completions"), (node) => reportErrors(page.go(node)));
  byId("color").addEventListener("change", (event) => reportErrors(page.recolor(Number(event.target.value))));
  byId("save").addEventListener("click", () => savePicture(page.maps, page.found ? "neighbors" : "map"));
  await page.start();
  byId("theme").addEventListener("click", () => toggleTheme(page));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.paint());
  addEventListener("popstate", () => reportErrors(page.restore(readLink()).then(() => page.paint())));
}

reportErrors(start());

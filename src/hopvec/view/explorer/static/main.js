// The page: what is shown now, and what follows when something is chosen.

import { ask, askNumbers, oneAtATime } from "./api.js";
import { classColor, colorTable, packed, themeColors } from "./colors.js";
import { showLegend } from "./legend.js";
import { readLink, writeLink } from "./link.js";
import { MapView } from "./map.js";
import { captionsOf } from "./overlay.js";
import { showHelp, showNode } from "./panel.js";
import { savePicture } from "./picture.js";
import { makeSearch } from "./search.js";
import { count, element, say, shown } from "./text.js";

const DEFAULT_COUNT = 10,
  MOST = 200;
const at = (id) => document.getElementById(id);

class Page {
  constructor(about) {
    this.about = about;
    this.maps = [];
    this.column = null; // number of the column that colors
    this.legend = null;
    this.codes = null;
    this.alone = null; // code of the class that is set apart
    this.chosen = null; // 1 for its members
    this.found = null; // the node that is shown
    this.k = DEFAULT_COUNT;
    this.askNode = oneAtATime();
    this.cards = new Map();
  }

  async start() {
    this.frame();
    const link = readLink();
    const positions = this.about.embeddings.map((_, side) => askNumbers(`positions/${side}`, Float32Array));
    const colored = this.setColumn(this.columnOf(link));
    this.makeMaps(await Promise.all(positions));
    await colored;
    await this.follow(link);
    this.paint();
    for (const map of this.maps) map.drawNow();
    document.documentElement.dataset.ready = "true";
    performance.mark("ready");
  }

  // What stands around the maps.
  frame() {
    const { about } = this,
      names = about.embeddings.map(({ name }) => shown(name, 40));
    const facts = [`${count(about.nodes)} nodes`];
    if (about.edges !== null) facts.push(`${count(about.edges)} edges`);
    facts.push(
      ...about.embeddings.map(
        ({ method, dim }, side) => `${names.length > 1 ? names[side] : (method ?? names[side])} ${dim}`,
      ),
    );
    at("facts").textContent = facts.join(" · ");
    document.title = `${names.join(", ")} · hopvec explorer`;
    document.querySelector("main").classList.toggle("compare", names.length > 1);
    document.querySelector("main").classList.toggle("three", names.length > 2);
    at("color").replaceChildren(
      ...about.columns.map((name, number) => element("option", { value: number }, shown(name, 60))),
    );
    document.querySelector(".color").hidden = !about.columns.length;
    at("legend").hidden = !about.columns.length;
    at("legend").open = !matchMedia("(max-width: 46rem)").matches;
    showHelp(at("panel"), about);
  }

  makeMaps(positions) {
    this.maps = this.about.embeddings.map(({ name }, side) => {
      const label = `Map of ${count(this.about.nodes)} nodes by ${shown(name, 40)}. Arrows move it, plus and minus zoom, 0 shows all, Enter picks the node in the middle.`;
      return new MapView(
        at("maps"),
        { label, shown: this.about.embeddings.length > 1 ? name : null },
        positions[side],
        {
          pick: (node) => this.go(node, { fly: false }),
          point: (node) => this.card(node),
          moved: () => this.remember(),
        },
      );
    });
  }

  // Does what an address says.
  async follow(link) {
    this.k = link.k ? Math.min(MOST, Math.max(1, link.k)) : DEFAULT_COUNT;
    if (this.columnOf(link) !== this.column) await this.setColumn(this.columnOf(link));
    const only = this.legend?.classes?.indexOf(link.only) ?? -1;
    await this.setAlone(only >= 0 ? only : null);
    let node = link.node !== null && link.node < this.about.nodes ? link.node : null;
    if (link.name !== null)
      node = await ask(`find?name=${encodeURIComponent(link.name)}`).then(
        (card) => card.node,
        () => null,
      );
    if (node === null) this.leave();
    else if (node !== this.found?.node) await this.show(node, { fly: !link.views.length });
    this.maps.forEach((map, side) => {
      const view = link.views[side];
      if (view) map.move({ x: view[0], y: view[1], zoom: view[2] });
    });
  }

  // The column that a link colors by: the first one, if it names none.
  columnOf(link) {
    return this.about.columns.length ? Math.max(0, this.about.columns.indexOf(link.color)) : null;
  }

  async setColumn(number) {
    this.column = number;
    this.alone = null;
    if (number === null) return;
    at("color").value = String(number);
    const [legend, codes] = await Promise.all([
      ask(`columns/${number}`),
      askNumbers(`columns/${number}/codes`, Uint16Array),
    ]);
    if (this.column !== number) return;
    this.legend = legend;
    this.codes = codes;
    this.chosen = null;
  }

  // Sets a class apart, or none.
  async setAlone(code) {
    this.alone = code;
    this.chosen = null;
    if (code === null) return;
    const members = await askNumbers(`columns/${this.column}/members/${code}`, Uint32Array);
    if (this.alone !== code) return;
    this.chosen = new Uint8Array(this.about.nodes);
    for (const node of members) this.chosen[node] = 1;
  }

  // Gives the maps their colors.
  paint() {
    const theme = themeColors(this.maps[0].canvas),
      table = colorTable(this.legend, theme, this.alone);
    for (const map of this.maps)
      map.paint({
        colors: table,
        codes: this.codes,
        chosen: this.chosen,
        alone: this.alone === null ? null : packed(classColor(this.alone, theme, this.alone)),
        captions:
          this.legend?.kind === "label" ? captionsOf(map.positions, this.codes, this.legend.classes) : [],
      });
    showLegend(at("entries"), this.legend, theme, this.alone, (code) => this.isolate(code));
  }

  async isolate(code) {
    const focused = document.activeElement?.dataset?.code;
    await this.setAlone(code);
    this.paint();
    if (focused !== undefined) at("entries").querySelector(`[data-code="${focused}"]`)?.focus();
    this.remember();
    say(
      code === null
        ? "All classes"
        : `Only ${shown(this.legend.classes[code], 60)}: ${count(this.legend.sizes[code])} nodes`,
      { quietly: true },
    );
  }

  async recolor(number) {
    await this.setColumn(number);
    this.paint();
    this.remember();
  }

  // Goes to a node and keeps the step, so that Back leads to the one before.
  async go(node, { fly = true } = {}) {
    await this.show(node, { fly });
    this.remember({ step: true });
  }

  async show(node, { fly }) {
    const found = await this.askNode(`nodes/${node}?k=${this.k}`);
    if (found === null) return;
    this.found = found;
    showNode(at("panel"), this.about, found, this.k, {
      go: (other) => attempt(this.go(other)),
      mark: (other) => this.maps.forEach((map) => map.mark(other)),
      setCount: (k) => {
        this.k = k;
        attempt(this.go(node, { fly: false }).then(() => at("count").focus()));
      },
    });
    this.maps.forEach((map, side) => {
      const near = found.near[side],
        edges = found.edges?.nodes ?? [];
      map.select({ card: found, near, edges });
      if (fly) map.show([node, ...near.map((card) => card.node)]);
    });
    say(`${Math.max(...found.near.map((list) => list.length))} neighbors of ${shown(found.name, 60)}`, { quietly: true });
  }

  leave() {
    if (this.found === null) return;
    this.found = null;
    for (const map of this.maps) map.select(null);
    showHelp(at("panel"), this.about);
  }

  remember({ step = false } = {}) {
    if (!document.documentElement.dataset.ready) return;
    clearTimeout(this.remembering);
    const write = () =>
      writeLink(
        {
          card: this.found,
          k: this.k === DEFAULT_COUNT ? null : this.k,
          color: this.column ? this.about.columns[this.column] : null,
          only: this.alone === null ? null : this.legend.classes[this.alone],
          views: this.maps.map(({ view }) => [view.x, view.y, view.zoom]),
        },
        { step },
      );
    if (step) write();
    else this.remembering = setTimeout(write, 150);
  }

  async card(node) {
    if (!this.cards.has(node)) {
      if (this.cards.size > 5000) this.cards.clear();
      this.cards.set(
        node,
        ask(`names?nodes=${node}`).then(
          ([card]) => card,
          () => null,
        ),
      );
    }
    return this.cards.get(node);
  }
}

function attempt(work) {
  return work.catch((error) => say(error.message));
}

function setTheme(page) {
  const dark = themeColors(page.maps[0].canvas).dark;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("hopvec-theme", document.documentElement.dataset.theme);
  } catch {
    /* a browser that keeps nothing */
  }
  page.paint();
}

async function start() {
  try {
    const theme = localStorage.getItem("hopvec-theme");
    if (theme) document.documentElement.dataset.theme = theme;
  } catch {
    /* a browser that keeps nothing */
  }
  const page = new Page(await ask("about"));
  makeSearch(at("search"), at("completions"), (node) => attempt(page.go(node)));
  at("color").addEventListener("change", (event) => attempt(page.recolor(Number(event.target.value))));
  at("save").addEventListener("click", () => savePicture(page.maps, page.found ? "neighbors" : "map"));
  await page.start();
  at("theme").addEventListener("click", () => setTheme(page));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.paint());
  addEventListener("popstate", () => attempt(page.follow(readLink()).then(() => page.paint())));
}

attempt(start());

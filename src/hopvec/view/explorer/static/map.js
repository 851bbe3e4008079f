// A map: points and what lies over them on two canvases, a view that moves, and the name under the hand.

import { themeColors, packed } from "./colors.js";
import { listen } from "./gestures.js";
import { Grid } from "./grid.js";
import { drawOverlay } from "./overlay.js";
import { Cloud, drawSplats, pointRadius } from "./splats.js";
import { element, shown } from "./text.js";

const MARGIN = 0.94; // of the map that the square of all points fills
const FARTHEST = 0.4,
  CLOSEST = 20_000; // zooms
const REACH = 14; // pixels from the hand to a point that it means
const HOME = { x: 0, y: 0, zoom: 1 };
const ACCENT = { light: [11, 92, 173], dark: [140, 196, 255] };
const FLIGHT = 350; // milliseconds

export class MapView {
  // asked: { pick(node), point(node) -> promise of a card, moved() }
  constructor(holder, title, positions, asked) {
    this.positions = positions;
    this.asked = asked;
    this.view = { ...HOME };
    this.cloud = new Cloud(positions);
    this.colors = null;
    this.chosen = null; // 1 for the nodes that are set apart, null for none
    this.alone = null; // their color
    this.selection = null;
    this.pointed = null;
    this.captions = [];
    this.canvas = element("canvas", {
      class: "points",
      tabindex: "0",
      role: "application",
      "aria-label": title.label,
    });
    this.over = element("canvas", { class: "over", "aria-hidden": "true" });
    this.tip = element("div", { class: "tip name", hidden: true });
    const name = title.shown ? element("p", { class: "title name" }, shown(title.shown)) : null;
    holder.append(
      element("div", { class: "map" }, this.canvas, this.over, ...(name ? [name] : []), this.tip),
    );
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    for (const kind of ["focus", "blur"]) this.canvas.addEventListener(kind, () => this.draw());
    listen(this.canvas, {
      pan: (x, y) => this.move({ x: this.view.x - x / this.unit, y: this.view.y - y / this.unit }),
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      home: () => this.move(HOME),
      pick: (x, y, within = REACH) => this.pick(x, y, within),
      point: (x, y) => this.point(x, y),
      leave: () => this.point(null),
    });
    this.resize();
  }

  // Pixels of the page that a unit of the plane takes.
  get unit() {
    return (Math.min(...this.size) / 2) * MARGIN * this.view.zoom;
  }

  place(x, y) {
    return [
      (x - this.view.x) * this.unit + this.size[0] / 2,
      (y - this.view.y) * this.unit + this.size[1] / 2,
    ];
  }

  at(node) {
    return this.place(this.positions[2 * node], this.positions[2 * node + 1]);
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect(),
      ratio = window.devicePixelRatio || 1;
    this.size = [Math.max(1, width), Math.max(1, height)];
    this.ratio = ratio;
    for (const canvas of [this.canvas, this.over]) {
      canvas.width = Math.max(1, Math.round(width * ratio));
      canvas.height = Math.max(1, Math.round(height * ratio));
    }
    this.context = this.canvas.getContext("2d", { alpha: false });
    const data = this.context.createImageData(this.canvas.width, this.canvas.height);
    this.image = { data, pixels: new Uint32Array(data.data.buffer), width: data.width, height: data.height };
    this.stale = true;
    this.drawNow(); // in the same frame, since the canvases are empty now
  }

  move(change) {
    this.flight = null;
    if (!this.tip.hidden) this.point(null);
    this.view = { ...this.view, ...change };
    this.view.zoom = Math.min(CLOSEST, Math.max(FARTHEST, this.view.zoom));
    this.view.x = Math.min(1.2, Math.max(-1.2, this.view.x));
    this.view.y = Math.min(1.2, Math.max(-1.2, this.view.y));
    this.draw();
    this.asked.moved();
  }

  zoom(factor, x, y) {
    const from = this.unit,
      right = x - this.size[0] / 2,
      down = y - this.size[1] / 2;
    const zoom = Math.min(CLOSEST, Math.max(FARTHEST, this.view.zoom * factor));
    const to = (from / this.view.zoom) * zoom;
    this.move({ zoom, x: this.view.x + right / from - right / to, y: this.view.y + down / from - down / to });
  }

  // Flies to where most of some nodes are seen, the first of them in the middle.
  show(nodes) {
    const [x, y] = [this.positions[2 * nodes[0]], this.positions[2 * nodes[0] + 1]];
    const far = nodes
      .map((node) => Math.hypot(this.positions[2 * node] - x, this.positions[2 * node + 1] - y))
      .sort((one, two) => one - two)[Math.floor((nodes.length - 1) * 0.75)];
    const closest = Math.min(40, Math.max(2, Math.sqrt(this.positions.length / 2) / 16)); // leaves others in sight
    const zoom = Math.min(closest, Math.max(1, 0.62 / Math.max(far, 1e-4)));
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.move({ x, y, zoom });
    const from = { ...this.view },
      start = performance.now(),
      flight = {};
    const step = (now) => {
      if (this.flight !== flight && now !== start) return;
      const share = Math.min(1, Math.max(0, (now - start) / FLIGHT)),
        eased = share * share * (3 - 2 * share);
      this.move({
        zoom: from.zoom * (zoom / from.zoom) ** eased,
        x: from.x + (x - from.x) * eased,
        y: from.y + (y - from.y) * eased,
      });
      this.flight = flight;
      if (share < 1) requestAnimationFrame(step);
    };
    step(start);
  }

  nearest(x, y, within) {
    this.grid ??= new Grid(this.positions);
    const reach = Math.min(within / this.unit, 4);
    const [across, down] = [
      (x - this.size[0] / 2) / this.unit + this.view.x,
      (y - this.size[1] / 2) / this.unit + this.view.y,
    ];
    return this.grid.nearest(across, down, reach, this.chosen);
  }

  pick(x, y, within) {
    const node = this.nearest(x, y, within);
    if (node !== null) this.asked.pick(node);
  }

  // Shows the name of the node under the hand.
  async point(x, y) {
    const node = x === null ? null : this.nearest(x, y, REACH);
    if (node === this.pointed) return;
    this.mark(node);
    this.tip.hidden = true;
    this.canvas.classList.toggle("on", node !== null);
    const card = node === null ? null : await this.asked.point(node);
    if (!card || this.pointed !== node) return;
    const [left, top] = this.at(node);
    this.tip.replaceChildren(
      shown(card.name, 120),
      ...(card.label ? [element("span", { class: "label" }, ` · ${shown(card.label, 60)}`)] : []),
    );
    this.tip.hidden = false;
    const { width, height } = this.tip.getBoundingClientRect();
    const x0 = Math.min(left + 12, this.size[0] - width - 4),
      y0 = top + 14 + height > this.size[1] ? top - 12 - height : top + 12;
    this.tip.style.transform = `translate(${Math.max(4, Math.round(x0))}px, ${Math.round(y0)}px)`;
  }

  // Shows a node with its neighbors and edges, { card, near, edges }, or none; others step back.
  select(selection) {
    this.selection = selection;
    this.canvas.classList.toggle("back", selection !== null);
    this.mark(null);
  }

  // Puts a ring around a node.
  mark(node) {
    this.pointed = node;
    this.draw();
  }

  draw() {
    this.waiting ??= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.waiting = null;
    if (!this.colors) return;
    const start = performance.now(),
      theme = themeColors(this.canvas),
      { image, ratio } = this;
    const key = JSON.stringify([this.view, image.width, image.height, theme]);
    if (key !== this.drawn || this.stale) {
      this.drawPoints(theme);
      [this.drawn, this.stale] = [key, false];
    }
    const context = this.over.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawOverlay(context, {
      theme,
      accent: ACCENT[theme.dark ? "dark" : "light"],
      font: getComputedStyle(this.canvas).fontFamily,
      size: this.size,
      at: (node) => this.at(node),
      place: (x, y) => this.place(x, y),
      selection: this.selection,
      pointed: this.pointed,
      captions: this.chosen ? [] : this.captions,
      cross: this.canvas.matches(":focus-visible"),
    });
    performance.clearMeasures("frame");
    performance.measure("frame", { start, end: performance.now() });
  }

  drawPoints(theme) {
    const { image, cloud, view, ratio } = this,
      points = this.positions.length / 2;
    const radius = pointRadius(points, view.zoom, ratio);
    const opacity = Math.min(
      0.9,
      (points > 200_000 ? 0.5 : points > 20_000 ? 0.7 : 0.85) + 0.05 * (view.zoom - 1),
    );
    const seen = { x: view.x, y: view.y, scale: this.unit * ratio };
    image.pixels.fill(packed(theme.ground));
    if (this.chosen === null) {
      drawSplats(image, cloud, seen, { colors: this.colors, radius, opacity });
    } else {
      drawSplats(image, cloud, seen, { only: packed(theme.quiet), radius, opacity, set: 0 });
      drawSplats(image, cloud, seen, { only: this.alone, radius: radius * 1.15, opacity: 0.9, set: 1 });
    }
    this.context.putImageData(image.data, 0, 0);
  }

  // New colors: a table of those of codes, the codes of nodes, and which nodes are set apart in
  // which color.
  paint({ colors, codes, chosen, alone, captions }) {
    Object.assign(this, { colors, chosen, alone, captions });
    this.cloud.dress(codes, chosen);
    this.stale = true;
    this.draw();
  }
}

// A map: two canvases with points and overlay, a view that moves and zooms, and a tooltip.

import { themeColors, packed } from "./colors.js";
import { listen } from "./gestures.js";
import { Grid } from "./grid.js";
import { drawOverlay } from "./overlay.js";
import { Cloud, drawSplats, pointRadius } from "./splats.js";
import { element, printable } from "./text.js";

const MARGIN = 0.94; // share of the map that the square of all points fills
const FITTED = 0.8; // share of the map for nodes that are fitted into it; names need the rest
const DIMMED = { light: 0.6, dark: 0.85 }; // opacity of the points behind a selection
const MIN_ZOOM = 0.4,
  MAX_ZOOM = 20_000;
const HIT_RADIUS = 14; // pixels between the pointer and a point
const HOME = { x: 0, y: 0, zoom: 1 };
const ACCENT = { light: [11, 92, 173], dark: [140, 196, 255] };
const LIKELY = { light: [168, 65, 10], dark: [255, 176, 119] };
const FLIGHT_MS = 350;

export class MapView {
  // callbacks: { pick(node), hover(node) -> promise of a card, moved() }
  constructor(holder, title, positions, callbacks) {
    this.positions = positions;
    this.callbacks = callbacks;
    this.view = { ...HOME };
    this.cloud = new Cloud(positions);
    this.colors = null;
    this.mask = null; // 1 for the nodes of the isolated class; null if all classes are shown
    this.isolated = null; // color of the isolated class
    this.selection = null;
    this.hovered = null;
    this.captions = [];
    this.canvas = element("canvas", {
      class: "points",
      tabindex: "0",
      role: "application",
      "aria-label": title.label,
    });
    this.over = element("canvas", { class: "over", "aria-hidden": "true" });
    this.tooltip = element("div", { class: "tooltip name", hidden: true });
    const name = title.caption ? element("p", { class: "title name" }, printable(title.caption)) : null;
    holder.append(
      element("div", { class: "map" }, this.canvas, this.over, ...(name ? [name] : []), this.tooltip),
    );
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    for (const kind of ["focus", "blur"]) this.canvas.addEventListener(kind, () => this.draw());
    listen(this.canvas, {
      pan: (x, y) => this.move({ x: this.view.x - x / this.unit, y: this.view.y - y / this.unit }),
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      home: () => this.move(HOME),
      pick: (x, y, within = HIT_RADIUS) => this.pick(x, y, within),
      hover: (x, y) => this.hover(x, y),
      leave: () => this.hover(null),
    });
    this.resize();
  }

  // CSS pixels per unit of the plane.
  get unit() {
    return (Math.min(...this.size) / 2) * MARGIN * this.view.zoom;
  }

  toScreen(x, y) {
    return [
      (x - this.view.x) * this.unit + this.size[0] / 2,
      (y - this.view.y) * this.unit + this.size[1] / 2,
    ];
  }

  nodeToScreen(node) {
    return this.toScreen(this.positions[2 * node], this.positions[2 * node + 1]);
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
    this.drawNow(); // in the same frame, since resizing clears the canvases
  }

  move(change) {
    this.flight = null;
    if (!this.tooltip.hidden) this.hover(null);
    this.view = { ...this.view, ...change };
    this.view.zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, this.view.zoom));
    this.view.x = Math.min(1.2, Math.max(-1.2, this.view.x));
    this.view.y = Math.min(1.2, Math.max(-1.2, this.view.y));
    this.draw();
    this.callbacks.moved();
  }

  zoom(factor, x, y) {
    const from = this.unit,
      right = x - this.size[0] / 2,
      down = y - this.size[1] / 2;
    const zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, this.view.zoom * factor));
    const to = (from / this.view.zoom) * zoom;
    this.move({ zoom, x: this.view.x + right / from - right / to, y: this.view.y + down / from - down / to });
  }

  // Flies to a view that fits all of the nodes.
  show(nodes) {
    const across = nodes.map((node) => this.positions[2 * node]),
      down = nodes.map((node) => this.positions[2 * node + 1]);
    const [left, right, top, bottom] = [Math.min(...across), Math.max(...across), Math.min(...down), Math.max(...down)];
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const closest = Math.min(40, Math.max(2, Math.sqrt(this.positions.length / 2) / 16)); // keeps some context visible
    const pixels = this.unit / this.view.zoom; // per unit of the plane, without zoom
    const fit = Math.min(this.size[0] / (right - left), this.size[1] / (bottom - top)) / pixels;
    const zoom = Math.min(closest, Math.max(MIN_ZOOM, FITTED * fit));
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.move({ x, y, zoom });
    const from = { ...this.view },
      start = performance.now(),
      flight = {};
    const step = (now) => {
      if (this.flight !== flight && now !== start) return;
      const share = Math.min(1, Math.max(0, (now - start) / FLIGHT_MS)),
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
    return this.grid.nearest(across, down, reach, this.mask);
  }

  pick(x, y, within) {
    const node = this.nearest(x, y, within);
    if (node !== null) this.callbacks.pick(node);
  }

  // Shows the name of the node under the pointer.
  async hover(x, y) {
    const node = x === null ? null : this.nearest(x, y, HIT_RADIUS);
    if (node === this.hovered) return;
    this.highlight(node);
    this.tooltip.hidden = true;
    this.canvas.classList.toggle("on", node !== null);
    const card = node === null ? null : await this.callbacks.hover(node);
    if (!card || this.hovered !== node) return;
    const [left, top] = this.nodeToScreen(node);
    this.tooltip.replaceChildren(
      printable(card.name, 120),
      ...(card.label ? [element("span", { class: "label" }, ` · ${printable(card.label, 60)}`)] : []),
    );
    this.tooltip.hidden = false;
    const { width, height } = this.tooltip.getBoundingClientRect();
    const x0 = Math.min(left + 12, this.size[0] - width - 4),
      y0 = top + 14 + height > this.size[1] ? top - 12 - height : top + 12;
    this.tooltip.style.transform = `translate(${Math.max(4, Math.round(x0))}px, ${Math.round(y0)}px)`;
  }

  // Shows a selection { card, near, links, edges }, or none; all other nodes are dimmed.
  select(selection) {
    this.selection = selection;
    this.highlight(null);
  }

  // Draws a ring around a node.
  highlight(node) {
    this.hovered = node;
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
    this.canvas.style.opacity = this.selection ? DIMMED[theme.dark ? "dark" : "light"] : 1;
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
      likely: LIKELY[theme.dark ? "dark" : "light"],
      font: getComputedStyle(this.canvas).fontFamily,
      size: this.size,
      nodeToScreen: (node) => this.nodeToScreen(node),
      toScreen: (x, y) => this.toScreen(x, y),
      selection: this.selection,
      hovered: this.hovered,
      captions: this.mask ? [] : this.captions,
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
    const visible = { x: view.x, y: view.y, scale: this.unit * ratio };
    image.pixels.fill(packed(theme.background));
    if (this.mask === null) {
      drawSplats(image, cloud, visible, { colors: this.colors, radius, opacity });
    } else {
      drawSplats(image, cloud, visible, { only: packed(theme.quiet), radius, opacity, set: 0 });
      drawSplats(image, cloud, visible, { only: this.isolated, radius: radius * 1.15, opacity: 0.9, set: 1 });
    }
    this.context.putImageData(image.data, 0, 0);
  }

  // Sets the color of each code, the code of each node, and the isolated class with its color.
  paint({ colors, codes, mask, isolated, captions }) {
    Object.assign(this, { colors, mask, isolated, captions });
    this.cloud.setColors(codes, mask);
    this.stale = true;
    this.draw();
  }
}

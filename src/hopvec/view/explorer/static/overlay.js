// The overlay of a map: lines to neighbors and likely links, names of nodes and classes.

import { printable } from "./text.js";

const CELLS = 40; // per side of the grid for the densest area of a class
const CAPTIONS = 14;
const MAX_CHARACTERS = 36; // of a name on the map

const css = ([red, green, blue], alpha = 1) => `rgb(${red} ${green} ${blue} / ${alpha})`;

// Draws into a 2D context that is scaled to CSS pixels. scene: { theme, accent, likely, font, size,
// toScreen(x, y), nodeToScreen(node), selection: { card, near, links, edges } or null,
// hovered: node or null, captions, cross }.
export function drawOverlay(context, scene) {
  const {
      size: [width, height],
    } = scene,
    boxes = [];
  context.clearRect(0, 0, width, height);
  context.lineCap = "round";
  if (scene.selection) drawSelection(context, scene, boxes);
  else
    for (const caption of scene.captions) {
      const [x, y] = scene.toScreen(caption.x, caption.y);
      write(context, scene, printable(caption.name, MAX_CHARACTERS), x, y, boxes, {
        weight: 600,
        size: 12.5,
        middle: true,
      });
    }
  if (scene.hovered !== null) ring(context, scene.nodeToScreen(scene.hovered), 7, css(scene.theme.ink), 2);
  if (scene.cross) {
    context.strokeStyle = css(scene.theme.ink, 0.5);
    context.lineWidth = 1;
    context.beginPath();
    for (const [x, y] of [
      [8, 0],
      [0, 8],
    ]) {
      context.moveTo(width / 2 - x, height / 2 - y);
      context.lineTo(width / 2 + x, height / 2 + y);
    }
    context.stroke();
  }
}

function drawSelection(context, scene, boxes) {
  const {
      theme,
      accent,
      likely,
      selection: { card, near, links, edges },
    } = scene,
    center = scene.nodeToScreen(card.node);
  const lines = (nodes, color, alpha, dashes, thickness = 1.2) => {
    context.strokeStyle = css(color, alpha);
    context.lineWidth = thickness;
    context.setLineDash(dashes);
    context.beginPath();
    for (const { node } of nodes) {
      const part = visiblePart(center, scene.nodeToScreen(node), scene.size);
      if (part === null) continue;
      context.moveTo(...part[0]);
      context.lineTo(...part[1]);
    }
    context.stroke();
    context.setLineDash([]);
  };
  lines(edges, accent, Math.max(0.25, 0.8 - edges.length / 200), [4, 4]);
  lines(near, theme.ink, 0.6, []);
  lines(links, likely, 1, [0.1, 5], 2.2); // dotted, since caps are round
  for (const { node } of edges) dot(context, scene, node, 2.5, accent);
  for (const { node } of near) dot(context, scene, node, 4, theme.ink);
  for (const { node } of links) ring(context, scene.nodeToScreen(node), 5.5, css(likely), 1.8);
  ring(context, center, 8, css(theme.ink), 2.5);
  write(context, scene, printable(card.name, MAX_CHARACTERS), ...center, boxes, {
    weight: 700,
    size: 14,
    away: 12,
    always: true,
  });
  for (const { node, name } of unique([...near, ...links]))
    write(context, scene, printable(name, MAX_CHARACTERS), ...scene.nodeToScreen(node), boxes, {
      weight: 500,
      size: 12.5,
      away: 7,
    });
}

// Cards without those of a node that occurs earlier.
function unique(cards) {
  return [...new Map(cards.map((card) => [card.node, card])).values()];
}

// The visible part of a line, or null: drawing dashes outside of the map would take seconds.
function visiblePart(from, to, size) {
  let [first, last] = [0, 1];
  for (const axis of [0, 1]) {
    const length = to[axis] - from[axis],
      ends = [-from[axis], size[axis] - from[axis]].map((edge) => edge / length);
    if (length === 0) {
      if (from[axis] < 0 || from[axis] > size[axis]) return null;
      continue;
    }
    first = Math.max(first, Math.min(...ends));
    last = Math.min(last, Math.max(...ends));
  }
  if (first >= last) return null;
  return [first, last].map((share) => from.map((value, axis) => value + share * (to[axis] - value)));
}

function dot(context, scene, node, radius, color) {
  context.beginPath();
  context.arc(...scene.nodeToScreen(node), radius, 0, 2 * Math.PI);
  context.fillStyle = css(color);
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = css(scene.theme.background);
  context.stroke();
}

function ring(context, [x, y], radius, color, width) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.lineWidth = width;
  context.strokeStyle = color;
  context.stroke();
}

// Writes a text next to a point, unless it would overlap another text.
function write(
  context,
  scene,
  text,
  x,
  y,
  boxes,
  { weight, size, away = 0, middle = false, always = false },
) {
  context.font = `${weight} ${size}px ${scene.font}`;
  context.direction = "ltr";
  context.textBaseline = "middle";
  const width = context.measureText(text).width,
    half = size * 0.65;
  const positions = middle
    ? [[x - width / 2, y]]
    : [
        [x + away, y],
        [x - away - width, y],
        [x - width / 2, y - away - half],
        [x - width / 2, y + away + half],
      ];
  const free =
    positions.find(([left, line]) => {
      const box = [left - 2, line - half, left + width + 2, line + half];
      const inside = box[0] > 0 && box[1] > 0 && box[2] < scene.size[0] && box[3] < scene.size[1];
      return (
        inside &&
        !boxes.some(
          (other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1],
        )
      );
    }) ?? (always ? positions[0] : null);
  if (!free) return;
  boxes.push([free[0] - 2, free[1] - half, free[0] + width + 2, free[1] + half]);
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = css(scene.theme.background, 0.85);
  context.strokeText(text, ...free);
  context.fillStyle = css(scene.theme.ink);
  context.fillText(text, ...free);
}

// Positions for the names of the largest classes: where the points of each are densest.
export function captionsOf(positions, codes, classes) {
  const wanted = Math.min(CAPTIONS, classes.length),
    across = CELLS + 2;
  const counts = new Uint32Array(wanted * across * across);
  const line = (value) => 1 + Math.min(CELLS - 1, Math.floor(((value + 1) / 2) * CELLS));
  for (let at = 0; at < codes.length; at++)
    if (codes[at] < wanted)
      counts[(codes[at] * across + line(positions[2 * at + 1])) * across + line(positions[2 * at])]++;
  return classes.slice(0, wanted).map((name, code) => {
    let best = [0, 0, 0];
    for (let row = 1; row <= CELLS; row++)
      for (let column = 1; column <= CELLS; column++) {
        let sum = 0;
        for (let down = -1; down <= 1; down++)
          for (let right = -1; right <= 1; right++)
            sum += counts[(code * across + row + down) * across + column + right];
        if (sum > best[0]) best = [sum, column, row];
      }
    const middle = (cell) => ((cell - 0.5) / CELLS) * 2 - 1;
    return { name, x: middle(best[1]), y: middle(best[2]) };
  });
}

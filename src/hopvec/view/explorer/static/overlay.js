// What lies over the points: lines to neighbors, names, captions of classes.

import { shown } from "./text.js";

const CELLS = 40; // of a side of the grid in which the thickest place of a class is found
const CAPTIONS = 14;
const SIGNS = 36; // of a name on the map

const css = ([red, green, blue], alpha = 1) => `rgb(${red} ${green} ${blue} / ${alpha})`;

// Draws into a 2D context that is scaled to pixels of the page. scene: { theme, accent, font, size,
// place(x, y), at(node), selection: { card, near, edges } or null, pointed: node or null, captions, cross }.
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
      const [x, y] = scene.place(caption.x, caption.y);
      write(context, scene, shown(caption.name, SIGNS), x, y, boxes, {
        weight: 600,
        size: 12.5,
        middle: true,
      });
    }
  if (scene.pointed !== null) ring(context, scene.at(scene.pointed), 7, css(scene.theme.ink), 2);
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
      selection: { card, near, edges },
    } = scene,
    center = scene.at(card.node);
  const lines = (nodes, color, alpha, dashes) => {
    context.strokeStyle = css(color, alpha);
    context.lineWidth = 1.2;
    context.setLineDash(dashes);
    context.beginPath();
    for (const { node } of nodes) {
      const part = seenPart(center, scene.at(node), scene.size);
      if (part === null) continue;
      context.moveTo(...part[0]);
      context.lineTo(...part[1]);
    }
    context.stroke();
    context.setLineDash([]);
  };
  lines(edges, accent, Math.max(0.25, 0.8 - edges.length / 200), [4, 4]);
  lines(near, theme.ink, 0.6, []);
  for (const { node } of edges) dot(context, scene, node, 2.5, accent);
  for (const { node } of near) dot(context, scene, node, 4, theme.ink);
  ring(context, center, 8, css(theme.ink), 2.5);
  write(context, scene, shown(card.name, SIGNS), ...center, boxes, {
    weight: 700,
    size: 14,
    away: 12,
    always: true,
  });
  for (const { node, name } of near)
    write(context, scene, shown(name, SIGNS), ...scene.at(node), boxes, { weight: 500, size: 12.5, away: 7 });
}

// The part of a line that is on the map, or null: dashes beyond it would take seconds to draw.
function seenPart(from, to, size) {
  let [first, last] = [0, 1];
  for (const axis of [0, 1]) {
    const way = to[axis] - from[axis],
      ends = [-from[axis], size[axis] - from[axis]].map((edge) => edge / way);
    if (way === 0) {
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
  context.arc(...scene.at(node), radius, 0, 2 * Math.PI);
  context.fillStyle = css(color);
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = css(scene.theme.ground);
  context.stroke();
}

function ring(context, [x, y], radius, color, width) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.lineWidth = width;
  context.strokeStyle = color;
  context.stroke();
}

// Writes a text beside a place, or not at all where it would cover another.
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
  const places = middle
    ? [[x - width / 2, y]]
    : [
        [x + away, y],
        [x - away - width, y],
        [x - width / 2, y - away - half],
        [x - width / 2, y + away + half],
      ];
  const free =
    places.find(([left, line]) => {
      const box = [left - 2, line - half, left + width + 2, line + half];
      const inside = box[0] > 0 && box[1] > 0 && box[2] < scene.size[0] && box[3] < scene.size[1];
      return (
        inside &&
        !boxes.some(
          (other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1],
        )
      );
    }) ?? (always ? places[0] : null);
  if (!free) return;
  boxes.push([free[0] - 2, free[1] - half, free[0] + width + 2, free[1] + half]);
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = css(scene.theme.ground, 0.85);
  context.strokeText(text, ...free);
  context.fillStyle = css(scene.theme.ink);
  context.fillText(text, ...free);
}

// Where the names of the largest classes go: each where its points lie thickest.
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

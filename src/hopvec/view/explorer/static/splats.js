// Points into the pixels of an image. Plain loops over typed arrays: a million points take a
// fraction of what the browser needs to show the image, and no graphics card is asked for.

// Numbers below `points`, mixed, so that no class lies on top of all others: each is a step further
// than the last, and the step shares no factor with their number.
function mixedOrder(points) {
  const common = (a, b) => (b ? common(b, a % b) : a);
  let step = Math.max(1, Math.floor(points * 0.6180339887));
  while (common(points, step) !== 1) step++;
  const order = new Uint32Array(points);
  for (let count = 1; count < points; count++) order[count] = (order[count - 1] + step) % points;
  return order;
}

// Points in the order in which they are drawn: reading them one after the other is several times
// faster than jumping between them in every frame.
export class Cloud {
  constructor(positions) {
    this.order = mixedOrder(positions.length / 2);
    this.positions = new Float32Array(positions.length);
    this.order.forEach((node, place) => {
      this.positions[2 * place] = positions[2 * node];
      this.positions[2 * place + 1] = positions[2 * node + 1];
    });
    this.codes = new Uint16Array(this.order.length);
    this.chosen = null;
  }

  // codes: of the colors of nodes; chosen: 1 for the nodes that are set apart, null for none.
  dress(codes, chosen) {
    if (codes) this.order.forEach((node, place) => (this.codes[place] = codes[node]));
    this.chosen = chosen && Uint8Array.from(this.order, (node) => chosen[node]);
  }
}

// The radius of a point in pixels: small where there are many, growing as one comes closer.
export function pointRadius(points, zoom, ratio) {
  const base = Math.min(5, Math.max(0.5, 310 / Math.sqrt(points)));
  return Math.min(base * Math.sqrt(Math.max(1, zoom)), Math.max(base, 6)) * ratio;
}

// A disc as offsets of pixels and how far each is covered, of 256.
function disc(radius, width, opacity) {
  const reach = Math.floor(radius + 0.5),
    offsets = [],
    covers = [];
  for (let y = -reach; y <= reach; y++)
    for (let x = -reach; x <= reach; x++) {
      const cover = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x, y))) * opacity;
      if (cover < 0.2 * opacity) continue; // not worth the time
      offsets.push(y * width + x);
      covers.push(Math.round(cover * 256));
    }
  return { reach, offsets: Int32Array.from(offsets), covers: Int32Array.from(covers) };
}

// Draws the points of a cloud in the colors of their codes, or all in `only`; with `set`, those that
// are set apart (1) or the others (0). view: { x, y, scale }.
export function drawSplats(image, cloud, view, { colors, only = null, radius, opacity, set = null }) {
  const { pixels, width, height } = image,
    { positions, codes, chosen } = cloud,
    { scale } = view;
  const left = width / 2 - view.x * scale,
    top = height / 2 - view.y * scale;
  const { reach, offsets, covers } = disc(radius, width, opacity);
  const parts = offsets.length,
    right = width - reach,
    bottom = height - reach;
  for (let at = 0; at < codes.length; at++) {
    if (set !== null && chosen[at] !== set) continue;
    const x = (positions[2 * at] * scale + left) | 0,
      y = (positions[2 * at + 1] * scale + top) | 0;
    if (x < reach || y < reach || x >= right || y >= bottom) continue;
    const color = only ?? colors[codes[at]],
      place = y * width + x;
    const redBlue = color & 0xff00ff,
      green = color & 0xff00;
    for (let part = 0; part < parts; part++) {
      const here = place + offsets[part],
        cover = covers[part],
        under = pixels[here];
      const underRedBlue = under & 0xff00ff,
        underGreen = under & 0xff00;
      pixels[here] =
        0xff000000 |
        ((underRedBlue + (Math.imul(redBlue - underRedBlue, cover) >> 8)) & 0xff00ff) |
        ((underGreen + (Math.imul(green - underGreen, cover) >> 8)) & 0xff00);
    }
  }
}

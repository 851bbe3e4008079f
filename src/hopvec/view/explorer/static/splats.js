// Draws points into the pixels of an image, with plain loops over typed arrays: a million points take
// a fraction of the time that the browser needs to show the image, and no GPU is needed.

// A permutation of the points, so that no class is drawn on top of all others: each is a constant step
// after the last, and the step is coprime to the number of points.
function mixedOrder(points) {
  const common = (a, b) => (b ? common(b, a % b) : a);
  let step = Math.max(1, Math.floor(points * 0.6180339887));
  while (common(points, step) !== 1) step++;
  const order = new Uint32Array(points);
  for (let count = 1; count < points; count++) order[count] = (order[count - 1] + step) % points;
  return order;
}

// Points in drawing order: sequential reads are several times faster than random access in each
// frame.
export class Cloud {
  constructor(positions) {
    this.order = mixedOrder(positions.length / 2);
    this.positions = new Float32Array(positions.length);
    this.order.forEach((node, index) => {
      this.positions[2 * index] = positions[2 * node];
      this.positions[2 * index + 1] = positions[2 * node + 1];
    });
    this.codes = new Uint16Array(this.order.length);
    this.mask = null;
  }

  // codes: the color code of each node; mask: 1 for the nodes of the isolated class, or null.
  setColors(codes, mask) {
    if (codes) this.order.forEach((node, index) => (this.codes[index] = codes[node]));
    this.mask = mask && Uint8Array.from(this.order, (node) => mask[node]);
  }
}

// The radius of a point in pixels: smaller for more points, larger when zoomed in.
export function pointRadius(points, zoom, ratio) {
  const base = Math.min(5, Math.max(0.5, 310 / Math.sqrt(points)));
  return Math.min(base * Math.sqrt(Math.max(1, zoom)), Math.max(base, 6)) * ratio;
}

// A disc as pixel offsets and the coverage of each pixel, out of 256.
function disc(radius, width, opacity) {
  const reach = Math.floor(radius + 0.5),
    offsets = [],
    covers = [];
  for (let y = -reach; y <= reach; y++)
    for (let x = -reach; x <= reach; x++) {
      const cover = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x, y))) * opacity;
      if (cover < 0.2 * opacity) continue; // invisible
      offsets.push(y * width + x);
      covers.push(Math.round(cover * 256));
    }
  return { reach, offsets: Int32Array.from(offsets), covers: Int32Array.from(covers) };
}

// Draws the points of a cloud in the colors of their codes, or all in the color `only`; with `set`,
// only the points whose mask is equal to it. view: { x, y, scale }.
export function drawSplats(image, cloud, view, { colors, only = null, radius, opacity, set = null }) {
  const { pixels, width, height } = image,
    { positions, codes, mask } = cloud,
    { scale } = view;
  const left = width / 2 - view.x * scale,
    top = height / 2 - view.y * scale;
  const { reach, offsets, covers } = disc(radius, width, opacity);
  const parts = offsets.length,
    right = width - reach,
    bottom = height - reach;
  for (let at = 0; at < codes.length; at++) {
    if (set !== null && mask[at] !== set) continue;
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

// A spatial index of points: a grid of cells, to find the point nearest to a position.

const MIN = -1,
  SIZE = 2; // of the square that contains all points

export class Grid {
  constructor(positions) {
    this.positions = positions;
    const points = positions.length / 2;
    this.across = Math.min(1024, Math.max(1, Math.ceil(Math.sqrt(points / 2))));
    this.starts = new Uint32Array(this.across * this.across + 1);
    this.points = new Uint32Array(points);
    for (let at = 0; at < points; at++) this.starts[this.cell(at) + 1]++;
    for (let cell = 0; cell < this.across * this.across; cell++) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    for (let at = 0; at < points; at++) this.points[next[this.cell(at)]++] = at;
  }

  line(value) {
    return Math.min(this.across - 1, Math.max(0, Math.floor(((value - MIN) / SIZE) * this.across)));
  }

  cell(at) {
    return this.line(this.positions[2 * at + 1]) * this.across + this.line(this.positions[2 * at]);
  }

  // The nearest point within a distance, restricted to `mask` if it is given; null if there is none.
  nearest(x, y, within, mask = null) {
    let best = null,
      least = within * within;
    const [first, last] = [this.line(x - within), this.line(x + within)];
    for (let row = this.line(y - within); row <= this.line(y + within); row++) {
      const begin = this.starts[row * this.across + first],
        end = this.starts[row * this.across + last + 1];
      for (let index = begin; index < end; index++) {
        const at = this.points[index];
        if (mask !== null && mask[at] !== 1) continue;
        const across = this.positions[2 * at] - x,
          down = this.positions[2 * at + 1] - y;
        const distance = across * across + down * down;
        if (distance < least) [best, least] = [at, distance];
      }
    }
    return best;
  }
}

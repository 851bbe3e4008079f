// Colors of points, packed like the pixels of a canvas: 0xffBBGGRR.

export const NONE = 65535; // the code of a node without a value

// Petroff's accessible colors for the largest classes, and darker shades of the same hues for as many
// more. All are a little lighter in the dark theme.
const PETROFF = [
  "#3f90da",
  "#ffa90e",
  "#bd1f01",
  "#832db6",
  "#a96b59",
  "#e76300",
  "#b9ac70",
  "#92dadd",
  "#717581",
].map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
const COLORED = 2 * PETROFF.length; // classes that have a color
// From low to high in even steps of lightness; reversed on a dark background.
const SCALE = [
  [224, 226, 190],
  [158, 209, 172],
  [89, 182, 172],
  [45, 143, 168],
  [44, 99, 151],
  [52, 52, 112],
];

export function packed([red, green, blue]) {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

export function mixed(one, two, share) {
  return one.map((value, at) => Math.round(value + (two[at] - value) * share));
}

// The colors of the theme, as computed by the browser.
export function themeColors(canvas) {
  const style = getComputedStyle(canvas);
  const [background, ink] = [style.backgroundColor, style.color].map((text) =>
    text
      .match(/[\d.]+/g)
      .slice(0, 3)
      .map(Number),
  );
  const dark = background[0] < 128;
  return {
    background,
    ink,
    dark,
    other: mixed(background, ink, dark ? 0.42 : 0.36),
    quiet: mixed(background, ink, dark ? 0.13 : 0.1),
  };
}

function paletteColor(code, theme) {
  const color = PETROFF[code % PETROFF.length],
    deep = code >= PETROFF.length;
  if (theme.dark) return mixed(color, [255, 255, 255], deep ? 0.55 : 0.14);
  return deep ? mixed(color, [0, 0, 0], 0.45) : color;
}

// The color of a class; the isolated class has a color even if it is not among the largest.
export function classColor(code, theme, isolated = null) {
  if (code < COLORED) return paletteColor(code, theme);
  return code === isolated ? (theme.dark ? [255, 255, 255] : [20, 20, 20]) : theme.other;
}

export function scaleColor(share, theme) {
  const position = (theme.dark ? 1 - share : share) * (SCALE.length - 1);
  const from = Math.min(Math.floor(position), SCALE.length - 2);
  return mixed(SCALE[from], SCALE[from + 1], position - from);
}

// The color of each code, for the renderer.
export function colorTable(legend, theme, isolated = null) {
  const table = new Uint32Array(65536).fill(packed(theme.other));
  if (legend?.kind === "label") {
    for (let code = 0; code < COLORED; code++) table[code] = packed(paletteColor(code, theme));
    if (isolated !== null) table[isolated] = packed(classColor(isolated, theme, isolated));
  } else if (legend?.kind === "number") {
    for (let code = 0; code < legend.levels; code++)
      table[code] = packed(scaleColor(code / (legend.levels - 1), theme));
  } else {
    table.fill(packed(paletteColor(0, theme)));
  }
  return table;
}

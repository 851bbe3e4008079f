// Colors of points, packed as the pixels of a canvas are: 0xffBBGGRR.

export const NONE = 65535; // the code of a node without a value

// Petroff's colors, which people with any color vision can tell apart, for the largest classes, and
// deeper ones of the same hues for as many more. All are a little lighter in the dark.
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
const COLORED = 2 * PETROFF.length; // classes with a color of their own
// From few to many, even steps of lightness; read backwards on a dark ground.
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

// The ground and the ink of the theme, as the browser has computed them.
export function themeColors(canvas) {
  const style = getComputedStyle(canvas);
  const [ground, ink] = [style.backgroundColor, style.color].map((text) =>
    text
      .match(/[\d.]+/g)
      .slice(0, 3)
      .map(Number),
  );
  const dark = ground[0] < 128;
  return {
    ground,
    ink,
    dark,
    other: mixed(ground, ink, dark ? 0.42 : 0.36),
    quiet: mixed(ground, ink, dark ? 0.13 : 0.1),
  };
}

function paletteColor(code, theme) {
  const color = PETROFF[code % PETROFF.length],
    deep = code >= PETROFF.length;
  if (theme.dark) return mixed(color, [255, 255, 255], deep ? 0.55 : 0.14);
  return deep ? mixed(color, [0, 0, 0], 0.45) : color;
}

// The color of a class; `alone` is the class that stands out although it has none of its own.
export function classColor(code, theme, alone = null) {
  if (code < COLORED) return paletteColor(code, theme);
  return code === alone ? (theme.dark ? [255, 255, 255] : [20, 20, 20]) : theme.other;
}

export function scaleColor(share, theme) {
  const place = (theme.dark ? 1 - share : share) * (SCALE.length - 1);
  const from = Math.min(Math.floor(place), SCALE.length - 2);
  return mixed(SCALE[from], SCALE[from + 1], place - from);
}

// The color of every code: a table for the renderer.
export function colorTable(legend, theme, alone = null) {
  const table = new Uint32Array(65536).fill(packed(theme.other));
  if (legend?.kind === "label") {
    for (let code = 0; code < COLORED; code++) table[code] = packed(paletteColor(code, theme));
    if (alone !== null) table[alone] = packed(classColor(alone, theme, alone));
  } else if (legend?.kind === "number") {
    for (let code = 0; code < legend.levels; code++)
      table[code] = packed(scaleColor(code / (legend.levels - 1), theme));
  } else {
    table.fill(packed(paletteColor(0, theme)));
  }
  return table;
}

// The legend: a button for each class that sets it apart, or a scale of numbers.

import { classColor, scaleColor } from "./colors.js";
import { count, element, shown } from "./text.js";

const MOST = 200; // classes that are listed

const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

// `alone` is the class set apart, or null; `choose(code or null)` is called with another one.
export function showLegend(holder, legend, theme, alone, choose) {
  if (legend === null) return holder.replaceChildren();
  holder.replaceChildren(
    ...(legend.kind === "label" ? classes(legend, theme, alone, choose) : [scale(legend, theme)]),
  );
}

function classes(legend, theme, alone, choose) {
  const buttons = legend.classes.slice(0, MOST).map((name, code) => {
    const color = css(classColor(code, theme, alone));
    return element(
      "button",
      {
        type: "button",
        "aria-pressed": String(code === alone),
        "data-code": code,
        onclick: () => choose(code === alone ? null : code),
      },
      swatch(color),
      element("span", { class: "name" }, shown(name, 60)),
      element("span", { class: "size" }, count(legend.sizes[code])),
    );
  });
  const more = legend.classes.length - buttons.length;
  return [...buttons, ...(more > 0 ? [element("p", { class: "more" }, `and ${count(more)} more`)] : [])];
}

function swatch(color) {
  const made = element("canvas", { class: "swatch", width: "1", height: "1", "aria-hidden": "true" });
  const context = made.getContext("2d");
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  return made;
}

function scale(legend, theme) {
  const bar = element("canvas", { width: "64", height: "1", "aria-hidden": "true" }),
    context = bar.getContext("2d");
  for (let at = 0; at < 64; at++) {
    context.fillStyle = css(scaleColor(at / 63, theme));
    context.fillRect(at, 0, 1, 1);
  }
  const number = (value) =>
    Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
  const middle = legend.logarithmic ? "logarithmic" : "";
  return element(
    "div",
    { class: "scale" },
    bar,
    element(
      "p",
      { class: "ends" },
      element("span", {}, number(legend.low)),
      element("span", {}, middle),
      element("span", {}, `${legend.above ? "≥ " : ""}${number(legend.high)}`),
    ),
  );
}

// The legend: a button for each class, to show only this class, or a scale of numbers.

import { classColor, scaleColor } from "./colors.js";
import { count, element, printable } from "./text.js";

const MAX_CLASSES = 200; // in the list

const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

// `isolated` is the only class shown, or null; `choose` is called with the new code or null.
export function showLegend(holder, legend, theme, isolated, choose) {
  if (legend === null) return holder.replaceChildren();
  holder.replaceChildren(
    ...(legend.kind === "label" ? classes(legend, theme, isolated, choose) : [scale(legend, theme)]),
  );
}

function classes(legend, theme, isolated, choose) {
  const buttons = legend.classes.slice(0, MAX_CLASSES).map((name, code) => {
    const color = css(classColor(code, theme, isolated));
    return element(
      "button",
      {
        type: "button",
        "aria-pressed": String(code === isolated),
        "data-code": code,
        onclick: () => choose(code === isolated ? null : code),
      },
      swatch(color),
      element("span", { class: "name" }, printable(name, 60)),
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

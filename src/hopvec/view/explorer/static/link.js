// The state in the URL: node, view and color. Links can be shared, and the Back button works.

const MAX_NAME = 500; // characters of a name in a URL; nodes with longer names are linked by their number

export function readLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  const views = (given.get("view") ?? "").split(";").map((part) => part.split(",").map(Number));
  const number = (name) => (/^\d{1,9}$/.test(given.get(name) ?? "") ? Number(given.get(name)) : null);
  return {
    name: given.get("node"),
    node: number("number"),
    k: number("k"),
    color: given.get("color"),
    only: given.get("only"),
    views: views.every((view) => view.length === 3 && view.every(Number.isFinite) && view[2] > 0)
      ? views
      : [],
  };
}

export function writeLink({ card, k, color, only, views }, { step = false } = {}) {
  const state = new URLSearchParams();
  if (card !== null) {
    if (card.name.length > MAX_NAME) state.set("number", card.node);
    else state.set("node", card.name);
  }
  if (k !== null) state.set("k", k);
  if (color !== null) state.set("color", color);
  if (only !== null) state.set("only", only);
  if (views.length)
    state.set(
      "view",
      views.map((view) => view.map((value) => Number(value.toPrecision(6))).join(",")).join(";"),
    );
  const url = `${location.pathname}${location.search}#${state}`;
  if (step) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}

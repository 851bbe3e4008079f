// What the address says: the node, the view, the color. It can be sent to others, and Back works.

const LONGEST = 500; // signs of a name in an address; longer ones go by the number of the node

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
  const said = new URLSearchParams();
  if (card !== null) {
    if (card.name.length > LONGEST) said.set("number", card.node);
    else said.set("node", card.name);
  }
  if (k !== null) said.set("k", k);
  if (color !== null) said.set("color", color);
  if (only !== null) said.set("only", only);
  if (views.length)
    said.set(
      "view",
      views.map((view) => view.map((value) => Number(value.toPrecision(6))).join(",")).join(";"),
    );
  const address = `${location.pathname}${location.search}#${said}`;
  if (step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

// The panel: what is known of a node, as tables.

import { count, csv, download, element, say, shown } from "./text.js";

const CHOICES = [5, 10, 20, 50, 100];

// asked: { go(node), mark(node or null), setCount(k) }
export function showNode(panel, about, found, k, asked) {
  const compared = about.embeddings.length > 1;
  panel.replaceChildren(
    element("h2", {}, shown(found.name, 10_000)),
    facts(found),
    ...(compared ? [overlaps(about, found)] : []),
    nearHead(about, found, k, asked),
    ...near(about, found, asked),
    ...(found.edges ? edgeList(about, found, asked) : []),
  );
  panel.scrollTop = 0;
}

export function showHelp(panel, about) {
  const key = (names, what) => [
    element(
      "dt",
      {},
      ...names.map((name) => element("kbd", {}, name)).flatMap((made, at) => (at ? [" ", made] : [made])),
    ),
    element("dd", {}, what),
  ];
  panel.replaceChildren(
    element("h2", {}, "Pick a node"),
    element(
      "p",
      { class: "hint" },
      about.embeddings.length > 1
        ? "Click a point or search for a name: its nearest neighbors by each embedding stand side by side, shared ones marked."
        : "Click a point or search for a name: here are its nearest neighbors then, exact ones by cosine similarity.",
    ),
    element(
      "dl",
      { class: "keys" },
      ...key(["/"], "search"),
      ...key(["←", "↑", "→", "↓"], "move the map"),
      ...key(["+", "−", "0"], "closer, farther, all"),
      ...key(["Enter"], "pick what is in the middle"),
    ),
  );
}

function facts(found) {
  const known = found.values.filter(([, value]) => value !== null);
  return element(
    "dl",
    {},
    ...known.flatMap(([name, value]) => [
      element("dt", {}, shown(name, 60)),
      element("dd", {}, shown(value)),
    ]),
  );
}

function near(about, found, asked) {
  if (!longestOf(found)) return [element("p", { class: "note" }, "Nothing is near it: its vector is zero.")];
  const compared = about.embeddings.length > 1;
  return [
    ...(found.edges ? [nearNote(found)] : []),
    compared ? compareTable(about, found, asked) : nearTable(about, found, asked),
  ];
}

// A zero vector has no neighbors, so that the lists may differ.
function longestOf(found) {
  return Math.max(...found.near.map((list) => list.length));
}

function overlaps(about, found) {
  const longest = longestOf(found),
    names = about.embeddings.map((embedding) => shown(embedding.name, 40));
  return element(
    "div",
    { class: "overlaps" },
    ...found.overlaps.map(({ first, second, shared }) =>
      element(
        "p",
        {},
        element("strong", {}, `${longest ? Math.round((100 * shared) / longest) : 0} %`),
        `${shared} of ${longest} shared by ${names[first]} and ${names[second]}`,
      ),
    ),
  );
}

function nearHead(about, found, k, asked) {
  const choice = element(
    "select",
    {
      id: "count",
      "aria-label": "Number of neighbors",
      onchange: (event) => asked.setCount(Number(event.target.value)),
    },
    ...[...new Set([...CHOICES, k])]
      .sort((one, two) => one - two)
      .map((number) => element("option", { value: number, selected: number === k }, String(number))),
  );
  return element(
    "div",
    { class: "head" },
    element("h3", {}, "Nearest"),
    choice,
    copyButton(() => csv(nearRows(about, found)), longestOf(found)),
  );
}

function nearNote(found) {
  const joined = found.near.map((list) => list.filter((card) => card.edge).length);
  const sentence = `${joined.join(" and ")} of these ${longestOf(found)} are joined to it by an edge `;
  return element("p", { class: "note" }, sentence, edgeMark(false));
}

function nearTable(about, found, asked) {
  const degrees = found.near[0].some((card) => card.degree !== null);
  const heads = [
    ["#", "rank"],
    ["node", ""],
    ["cosine", "number"],
    ...(degrees ? [["degree", "number"]] : []),
    ...(about.labeled ? [["label", "label"]] : []),
  ];
  const rows = found.near[0].map((card, at) =>
    row(
      card,
      asked,
      element("td", { class: "number soft" }, String(at + 1)),
      element("td", {}, nameCell(card, asked)),
      element("td", { class: "number" }, card.similarity.toFixed(3)),
      degrees ? element("td", { class: "number soft" }, count(card.degree)) : null,
      about.labeled
        ? element("td", { class: "cut soft", title: card.label }, shown(card.label ?? "", 60))
        : null,
    ),
  );
  return table("near", heads, rows);
}

function compareTable(about, found, asked) {
  const times = new Map();
  for (const list of found.near) for (const { node } of list) times.set(node, (times.get(node) ?? 0) + 1);
  const heads = [["#", "rank"], ...about.embeddings.map((embedding) => [shown(embedding.name, 40), "side"])];
  const ranks = [...Array(longestOf(found)).keys()];
  const rows = ranks.map((at) =>
    element(
      "tr",
      {},
      element("td", { class: "number soft" }, String(at + 1)),
      ...found.near.map((list) =>
        list[at] ? sideCell(list[at], times.get(list[at].node) > 1, asked) : element("td", { class: "side" }),
      ),
    ),
  );
  return element(
    "div",
    {},
    element("p", { class: "note" }, element("span", { class: "key-shared" }), " in more than one list"),
    table("near", heads, rows),
  );
}

function sideCell(card, shared, asked) {
  const small = [card.label, card.degree === null ? null : `degree ${count(card.degree)}`].filter(
    (part) => part !== null,
  );
  return element(
    "td",
    { class: shared ? "side shared" : "side", ...marking(card, asked) },
    nameCell(card, asked, shared),
    element(
      "div",
      { class: "small" },
      element("span", { class: "name" }, shown(small.join(" · "), 60)),
      element("span", { class: "value" }, card.similarity.toFixed(3)),
    ),
  );
}

function edgeList(about, found, asked) {
  const { nodes, count: number } = found.edges;
  const heads = [
    ["node", ""],
    ["cosine", "number"],
    ["rank", "number"],
    ...(about.labeled ? [["label", "label"]] : []),
  ];
  const rows = nodes.map((card) =>
    row(
      card,
      asked,
      element("td", {}, nameCell(card, asked)),
      element("td", { class: "number" }, card.similarity.toFixed(3)),
      element("td", { class: "number soft" }, card.rank === null ? "–" : String(card.rank)),
      about.labeled
        ? element("td", { class: "cut soft", title: card.label }, shown(card.label ?? "", 60))
        : null,
    ),
  );
  const listed = number > nodes.length ? `the ${nodes.length} most similar of ${count(number)}, ` : "";
  const lines = () =>
    csv([
      ["node", "similarity", "rank", "degree", "label"],
      ...nodes.map((card) => [card.name, card.similarity, card.rank, card.degree, card.label]),
    ]);
  return [
    element(
      "div",
      { class: "head" },
      element("h3", {}, about.directed ? "Edges from it" : "Edges"),
      element("span", { class: "note" }, count(number)),
      nodes.length ? copyButton(lines, nodes.length) : null,
    ),
    element(
      "p",
      { class: "note" },
      nodes.length ? `${listed}with their rank among the nearest, ` : "It has none in the graph.",
      ...(nodes.length ? [edgeMark(false), " on the map"] : []),
    ),
    ...(nodes.length ? [table("edges", heads, rows)] : []),
  ];
}

function table(id, heads, rows) {
  return element(
    "table",
    { id },
    element("colgroup", {}, ...heads.map(([, kind]) => element("col", { class: kind }))),
    element(
      "thead",
      {},
      element("tr", {}, ...heads.map(([name, kind]) => element("th", { scope: "col", class: kind }, name))),
    ),
    element("tbody", {}, ...rows),
  );
}

function row(card, asked, ...cells) {
  return element("tr", marking(card, asked), ...cells);
}

// While the hand or the focus is here, the map shows where the node is.
function marking(card, asked) {
  const on = () => asked.mark(card.node),
    off = () => asked.mark(null);
  return { onpointerenter: on, onpointerleave: off, onfocusin: on, onfocusout: off };
}

function nameCell(card, asked, shared = false) {
  const name = element(
    "button",
    { type: "button", class: "go name", title: shown(card.name, 500), onclick: () => asked.go(card.node) },
    shown(card.name),
  );
  if (shared) name.append(element("span", { class: "hidden" }, " (shared)"));
  return element("div", { class: "cell" }, name, card.edge ? edgeMark(true) : null);
}

function edgeMark(spoken) {
  const attributes = spoken
    ? { role: "img", "aria-label": "joined by an edge", title: "joined by an edge" }
    : { "aria-hidden": "true" };
  return element("span", { class: "mark-edge", ...attributes });
}

function nearRows(about, found) {
  const several = about.embeddings.length > 1;
  const head = [
    "node",
    "rank",
    "neighbor",
    "similarity",
    "degree",
    "label",
    ...(found.edges ? ["edge"] : []),
    ...(several ? ["embedding"] : []),
  ];
  return [
    head,
    ...found.near.flatMap((list, side) =>
      list.map((card, at) => [
        found.name,
        at + 1,
        card.name,
        card.similarity,
        card.degree,
        card.label,
        ...(found.edges ? [card.edge] : []),
        ...(several ? [about.embeddings[side].name] : []),
      ]),
    ),
  ];
}

function copyButton(lines, rows) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(lines());
      say(`Copied ${rows} rows as CSV`);
    } catch {
      // no clipboard without https, but on this machine
      download("hopvec.csv", new Blob([lines()], { type: "text/csv" }));
      say(`Saved ${rows} rows as hopvec.csv`);
    }
  };
  return element("button", { type: "button", class: "act", onclick: copy }, "Copy as CSV");
}

// The panel: a node with its values, neighbors, likely links and edges.

import { count, csv, download, element, announce, printable } from "./text.js";

const CHOICES = [5, 10, 20, 50, 100];

// callbacks: { go(node), highlight(node or null), setCount(k) }
export function showNode(panel, about, found, k, callbacks) {
  const compared = about.embeddings.length > 1;
  panel.replaceChildren(
    element("h2", {}, printable(found.name, 10_000)),
    values(found),
    ...(compared ? [overlaps(about, found)] : []),
    nearHead(about, found, k, callbacks),
    ...near(about, found, callbacks),
    ...(found.links ? linkList(about, found, callbacks) : []),
    ...(found.edges ? edgeList(about, found, callbacks) : []),
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
    element("h2", {}, "Select a node"),
    element(
      "p",
      { class: "hint" },
      about.embeddings.length > 1
        ? "Click a point or search for a name to compare the nearest neighbors of a node in each embedding."
        : "Click a point or search for a name to see the nearest neighbors of a node: exact, by cosine similarity.",
    ),
    element(
      "dl",
      { class: "keys" },
      ...key(["/"], "search"),
      ...key(["←", "↑", "→", "↓"], "move the map"),
      ...key(["+", "−", "0"], "zoom in, zoom out, show all"),
      ...key(["Enter"], "select the node in the center"),
    ),
  );
}

function values(found) {
  const present = found.values.filter(([, value]) => value !== null);
  return element(
    "dl",
    {},
    ...present.flatMap(([name, value]) => [
      element("dt", {}, printable(name, 60)),
      element("dd", {}, printable(value)),
    ]),
  );
}

function near(about, found, callbacks) {
  if (!longestOf(found)) return [element("p", { class: "note" }, "No neighbors: the vector of this node is zero.")];
  const compared = about.embeddings.length > 1;
  return [
    ...(found.edges ? [nearNote(found)] : []),
    compared ? compareTable(about, found, callbacks) : nearTable(about, found, callbacks),
  ];
}

// The lists may have different lengths, since zero vectors have no neighbors.
function longestOf(found) {
  return Math.max(...found.near.map((list) => list.length));
}

function overlaps(about, found) {
  const longest = longestOf(found),
    names = about.embeddings.map((embedding) => printable(embedding.name, 40));
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

function nearHead(about, found, k, callbacks) {
  const choice = element(
    "select",
    {
      id: "count",
      "aria-label": "Number of neighbors",
      onchange: (event) => callbacks.setCount(Number(event.target.value)),
    },
    ...[...new Set([...CHOICES, k])]
      .sort((one, two) => one - two)
      .map((number) => element("option", { value: number, selected: number === k }, String(number))),
  );
  return element(
    "div",
    { class: "head" },
    element("h3", {}, "Nearest neighbors"),
    choice,
    copyButton(() => csv(nearRows(about, found)), longestOf(found)),
  );
}

function nearNote(found) {
  const adjacent = found.near.map((list) => list.filter((card) => card.edge).length);
  const sentence = `${adjacent.join(" and ")} of ${longestOf(found)} are connected to it by an edge `;
  return element("p", { class: "note" }, sentence, mark("edge"));
}

function nearTable(about, found, callbacks) {
  const degrees = found.near[0].some((card) => card.degree !== null);
  const heads = [
    ["#", "rank"],
    ["node", ""],
    ["cosine", "number"],
    ...(degrees ? [["degree", "number"]] : []),
    ...labelHead(about),
  ];
  const rows = found.near[0].map((card, at) =>
    row(
      card,
      callbacks,
      element("td", { class: "number soft" }, String(at + 1)),
      element("td", {}, nameCell(card, callbacks)),
      element("td", { class: "number" }, card.similarity.toFixed(3)),
      degrees ? element("td", { class: "number soft" }, count(card.degree)) : null,
      labelCell(about, card),
    ),
  );
  return table("near", heads, rows);
}

function compareTable(about, found, callbacks) {
  const times = new Map();
  for (const list of found.near) for (const { node } of list) times.set(node, (times.get(node) ?? 0) + 1);
  const heads = [["#", "rank"], ...about.embeddings.map((embedding) => [printable(embedding.name, 40), "side"])];
  const ranks = [...Array(longestOf(found)).keys()];
  const rows = ranks.map((at) =>
    element(
      "tr",
      {},
      element("td", { class: "number soft" }, String(at + 1)),
      ...found.near.map((list) =>
        list[at] ? sideCell(list[at], times.get(list[at].node) > 1, callbacks) : element("td", { class: "side" }),
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

function sideCell(card, shared, callbacks) {
  const small = [card.label, card.degree === null ? null : `degree ${count(card.degree)}`].filter(
    (part) => part !== null,
  );
  return element(
    "td",
    { class: shared ? "side shared" : "side", ...highlighting(card, callbacks) },
    nameCell(card, callbacks, shared),
    element(
      "div",
      { class: "small" },
      element("span", { class: "name" }, printable(small.join(" · "), 60)),
      element("span", { class: "value" }, card.similarity.toFixed(3)),
    ),
  );
}

function linkList(about, found, callbacks) {
  const { links } = found;
  const rows = links.map((card, at) =>
    row(
      card,
      callbacks,
      element("td", { class: "number soft" }, String(at + 1)),
      element("td", {}, nameCell(card, callbacks), element("div", { class: "small" }, evidence(about, card.common))),
      element("td", { class: "number" }, card.score.toFixed(3)),
      element("td", { class: "number soft" }, count(card.degree)),
      labelCell(about, card),
    ),
  );
  const heads = [["#", "rank"], ["node", ""], ["score", "number"], ["degree", "number"], ...labelHead(about)];
  const lines = () =>
    csv([
      ["node", "rank", "recommended", "score", "common_neighbors", "degree", "label"],
      ...links.map((card, at) => [found.name, at + 1, card.name, card.score, card.common, card.degree, card.label]),
    ]);
  return [
    element(
      "div",
      { class: "head" },
      element("h3", {}, "Likely links"),
      links.length ? copyButton(lines, links.length) : null,
    ),
    element("p", { class: "note" }, ...(links.length ? [linkNote(about), mark("link")] : [noLinks(found)])),
    ...(links.length ? [table("links", heads, rows)] : []),
  ];
}

function linkNote(about) {
  const { directed, bipartite, embeddings, links } = about;
  const edges = bipartite ? "edges to the other side" : directed ? "outgoing edges" : "edges";
  const vectors = embeddings.length > 1 ? ` of ${printable(embeddings[0].name, 40)}` : "";
  const popularity = `${links.popularity}\u00a0×\u00a0ln(${directed ? "in-degree" : "degree"})`;
  const counted = bipartite
    ? "Via: neighbors that share a neighbor with this node. "
    : directed
      ? "Common neighbors are on a path of two edges. "
      : "";
  return `The most likely new ${edges}, by cosine${vectors} + ${popularity}. ${counted}On the map: `;
}

function noLinks(found) {
  return longestOf(found) ? "There is no node that it could be linked to." : "None: the vector of this node is zero.";
}

// In a bipartite graph no neighbor is common to two nodes that could be linked.
function evidence(about, number) {
  if (about.bipartite) return `via ${number ? count(number) : "none"} of its neighbors`;
  return `${number ? count(number) : "no"} common neighbor${number === 1 ? "" : "s"}`;
}

function edgeList(about, found, callbacks) {
  const { nodes, count: number } = found.edges;
  const heads = [
    ["node", ""],
    ["cosine", "number"],
    ["rank", "number"],
    ...labelHead(about),
  ];
  const rows = nodes.map((card) =>
    row(
      card,
      callbacks,
      element("td", {}, nameCell(card, callbacks)),
      element("td", { class: "number" }, card.similarity.toFixed(3)),
      element("td", { class: "number soft" }, card.rank === null ? "–" : String(card.rank)),
      labelCell(about, card),
    ),
  );
  const listed = number > nodes.length ? `The ${nodes.length} most similar of ${count(number)}. ` : "";
  const lines = () =>
    csv([
      ["node", "similarity", "rank", "degree", "label"],
      ...nodes.map((card) => [card.name, card.similarity, card.rank, card.degree, card.label]),
    ]);
  return [
    element(
      "div",
      { class: "head" },
      element("h3", {}, about.directed ? "Outgoing edges" : "Edges"),
      element("span", { class: "note" }, count(number)),
      nodes.length ? copyButton(lines, nodes.length) : null,
    ),
    element(
      "p",
      { class: "note" },
      nodes.length ? `${listed}Rank is that among the nearest neighbors. On the map: ` : "This node has no edges.",
      ...(nodes.length ? [mark("edge")] : []),
    ),
    ...(nodes.length ? [table("edges", heads, rows)] : []),
  ];
}

function labelHead(about) {
  return about.labeled ? [[about.labeled, "label"]] : [];
}

function labelCell(about, card) {
  if (!about.labeled) return null;
  return element("td", { class: "cut soft", title: card.label }, printable(card.label ?? "", 60));
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

function row(card, callbacks, ...cells) {
  return element("tr", highlighting(card, callbacks), ...cells);
}

// Highlights a node on the map while the pointer or the focus is on its row.
function highlighting(card, callbacks) {
  const on = () => callbacks.highlight(card.node),
    off = () => callbacks.highlight(null);
  return { onpointerenter: on, onpointerleave: off, onfocusin: on, onfocusout: off };
}

function nameCell(card, callbacks, shared = false) {
  const name = element(
    "button",
    { type: "button", class: "go name", title: printable(card.name, 500), onclick: () => callbacks.go(card.node) },
    printable(card.name),
  );
  if (shared) name.append(element("span", { class: "hidden" }, " (shared)"));
  return element("div", { class: "cell" }, name, card.edge ? mark("edge", "connected by an edge") : null);
}

// A line as on the map; without a meaning of its own, it is hidden from screen readers.
function mark(kind, meaning = null) {
  const attributes = meaning ? { role: "img", "aria-label": meaning, title: meaning } : { "aria-hidden": "true" };
  return element("span", { class: `mark-${kind}`, ...attributes });
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
      announce(`Copied ${rows} rows as CSV`);
    } catch {
      // the clipboard needs https or localhost
      download("hopvec.csv", new Blob([lines()], { type: "text/csv" }));
      announce(`Saved ${rows} rows as hopvec.csv`);
    }
  };
  return element("button", { type: "button", class: "act", onclick: copy }, "Copy as CSV");
}

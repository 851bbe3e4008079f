// Texts and elements. Names of nodes are anything at all, so they only ever become text nodes.

const CONTROL = /[\u0000-\u001f\u007f]/g;

// A name on one line: control characters as their pictures, so that a newline is seen.
export function shown(name, longest = 300) {
  const line = name.replace(CONTROL, (sign) =>
    String.fromCharCode(sign === "\u007f" ? 0x2421 : 0x2400 + sign.charCodeAt(0)),
  );
  const signs = line.length > longest ? [...line.slice(0, 2 * longest)] : null;
  return signs && signs.length > longest ? `${signs.slice(0, longest).join("")}…` : line;
}

export function count(number) {
  return number.toLocaleString("en");
}

// An element with attributes, handlers (onclick: ...) and children; texts stay texts.
export function element(kind, attributes = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Rows as CSV (RFC 4180).
export function csv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

// Hands a file to the person who asked for it.
export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

let hiding = 0;

// Tells people something, by voice where they use one.
export function say(sentence, { quietly = false } = {}) {
  const status = document.getElementById("status");
  status.textContent = sentence;
  status.classList.toggle("shown", !quietly);
  clearTimeout(hiding);
  hiding = setTimeout(() => status.classList.remove("shown"), 4000);
}

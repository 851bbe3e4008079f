// Strings and elements. Names of nodes are untrusted, so they are only inserted as text nodes.

const CONTROL = /[\u0000-\u001f\u007f]/g;

// A name on one line, shortened; control characters are shown as symbols, such as ␊.
export function printable(name, maxLength = 300) {
  const line = name.replace(CONTROL, (character) =>
    String.fromCharCode(character === "\u007f" ? 0x2421 : 0x2400 + character.charCodeAt(0)),
  );
  const characters = line.length > maxLength ? [...line.slice(0, 2 * maxLength)] : null;
  return characters && characters.length > maxLength ? `${characters.slice(0, maxLength).join("")}…` : line;
}

export function count(number) {
  return number.toLocaleString("en");
}

// Creates an element with attributes, event handlers (onclick: ...) and children.
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

// Downloads a file.
export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

let hiding = 0;

// Shows a message in the status line, which screen readers announce.
export function announce(message, { quietly = false } = {}) {
  const status = document.getElementById("status");
  status.textContent = message;
  status.classList.toggle("shown", !quietly);
  clearTimeout(hiding);
  hiding = setTimeout(() => status.classList.remove("shown"), 4000);
}

// The search box: completes names while typing.

import { latestOnly } from "./api.js";
import { element, announce, printable } from "./text.js";

const DEBOUNCE_MS = 60; // between the last key and the request

export function makeSearch(input, list, choose) {
  const request = latestOnly();
  let cards = [],
    completed = "", // the text that the cards complete
    active = -1,
    waiting = 0;

  const none = element("span", { class: "none", hidden: true }, "no match");
  input.after(none);
  const setMatch = (found) => {
    none.hidden = found;
    input.classList.toggle("unmatched", !found);
  };
  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const activate = (index) => {
    active = cards.length ? (index + cards.length) % cards.length : -1;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === active)));
    if (active < 0) return;
    input.setAttribute("aria-activedescendant", `completion-${active}`);
    list.children[active].scrollIntoView({ block: "nearest" });
  };
  const pick = (card) => {
    close();
    input.value = card.name;
    choose(card.node);
  };
  const show = () => {
    list.replaceChildren(
      ...cards.map((card, at) =>
        element(
          "li",
          {
            id: `completion-${at}`,
            role: "option",
            "aria-selected": "false",
            onpointerdown: (event) => event.preventDefault(), // keeps the focus in the input
            onclick: () => pick(card),
          },
          element("span", { class: "name" }, printable(card.name, 120)),
          card.label ? element("span", { class: "name label" }, printable(card.label, 60)) : null,
        ),
      ),
    );
    list.hidden = !cards.length;
    input.setAttribute("aria-expanded", String(cards.length > 0));
    setMatch(cards.length > 0);
    announce(cards.length ? `${cards.length} nodes found` : "No nodes found", { quietly: true });
  };
  const complete = async () => {
    const text = input.value.trim();
    if (!text) {
      setMatch(true);
      return close();
    }
    const found = await request(`complete?text=${encodeURIComponent(text)}`);
    if (found === null) return;
    cards = found;
    completed = text;
    show();
    activate(0);
  };
  const completeSoon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => complete().catch((error) => announce(error.message)), DEBOUNCE_MS);
  };

  input.addEventListener("input", completeSoon);
  input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", async (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) return completeSoon();
      activate(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      clearTimeout(waiting);
      const stale = list.hidden || completed !== input.value.trim();
      if (stale) await complete().catch((error) => announce(error.message));
      if (active >= 0 && cards[active]) pick(cards[active]);
    } else if (event.key === "Escape") {
      close();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    input.focus();
  });
}

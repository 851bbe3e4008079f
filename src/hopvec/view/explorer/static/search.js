// The search box: completes names as they are typed, by the server.

import { oneAtATime } from "./api.js";
import { element, say, shown } from "./text.js";

const PAUSE = 60; // milliseconds without a key before the server is asked

export function makeSearch(input, list, choose) {
  const ask = oneAtATime();
  let cards = [],
    active = -1,
    waiting = 0;

  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const activate = (place) => {
    active = cards.length ? (place + cards.length) % cards.length : -1;
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
            onpointerdown: (event) => event.preventDefault(), // or the input would lose its focus
            onclick: () => pick(card),
          },
          element("span", { class: "name" }, shown(card.name, 120)),
          card.label ? element("span", { class: "name label" }, shown(card.label, 60)) : null,
        ),
      ),
    );
    list.hidden = !cards.length;
    input.setAttribute("aria-expanded", String(cards.length > 0));
    say(cards.length ? `${cards.length} names found` : "No node is called that", {
      quietly: cards.length > 0,
    });
  };
  const complete = async () => {
    const text = input.value.trim();
    if (!text) return close();
    const found = await ask(`complete?text=${encodeURIComponent(text)}`);
    if (found === null) return;
    cards = found;
    show();
    activate(0);
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => complete().catch((error) => say(error.message)), PAUSE);
  };

  input.addEventListener("input", soon);
  input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", async (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) return soon();
      activate(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      clearTimeout(waiting);
      if (list.hidden) await complete().catch((error) => say(error.message));
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

// A text field that suggests entities while typing: the combobox pattern of WAI-ARIA.

import { get } from "/page/api.js";
import { el } from "/page/dom.js";

const DELAY = 120; // milliseconds after the last key before the request
let count = 0;

/** A field and its list of suggestions; `choose(entity)` is called with the selected one. */
export function search({ label, placeholder, value = "", hidden = false, choose }) {
  const id = `search-${(count += 1)}`;
  let found = [], active = -1, timer = 0, requests = 0;
  const list = el("ul", { role: "listbox", id: `${id}-list`, "aria-label": label, hidden: true });
  const input = el("input", {
    id, type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", placeholder,
    "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list",
    input: () => { clearTimeout(timer); timer = setTimeout(suggest, DELAY); },
    keydown: onKey,
    blur: () => setTimeout(close, 150),
  });
  input.value = value;
  const status = el("span", { class: "hidden", role: "status" });
  const caption = el("label", { for: id, class: hidden ? "hidden" : "" }, label);

  async function suggest() {
    const text = input.value.trim(), request = (requests += 1);
    if (!text) return close();
    const page = await get("/v1/entities", { q: text, limit: 8 }).catch(() => ({ entities: [] }));
    if (request !== requests || document.activeElement !== input) return;
    found = page.entities;
    active = -1;
    status.textContent = found.length ? `${found.length} suggestions` : "No matching entity";
    list.replaceChildren(...found.map((entity, i) =>
      el("li", {
        role: "option", id: `${id}-${i}`, "aria-selected": "false",
        mousedown: (event) => { event.preventDefault(); pick(i); },
      }, el("span", {}, entity.label), el("span", { class: "soft" }, entity.types.join(", ")))));
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function move(step) {
    active = (active + step + found.length + (active < 0 && step < 0 ? 1 : 0)) % found.length;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    input.setAttribute("aria-activedescendant", `${id}-${active}`);
    list.children[active].scrollIntoView({ block: "nearest" });
  }

  function pick(i) {
    input.value = found[i].label;
    close();
    choose(found[i]);
  }

  async function onKey(event) {
    if (event.key === "Escape") return close();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) await suggest();
      if (found.length) move(event.key === "ArrowDown" ? 1 : -1);
    }
    if (event.key === "Enter" && input.value.trim()) {
      event.preventDefault();
      clearTimeout(timer);
      if (list.hidden || active < 0) await suggest();
      if (found.length) pick(Math.max(active, 0));
    }
    return undefined;
  }

  return { node: el("div", { class: "combo" }, caption, input, list, status), input };
}

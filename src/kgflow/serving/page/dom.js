// Elements without a framework. Text is always text: nothing that a name holds becomes markup.

/** An element; attributes that are functions listen to the event of their name. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** An address of this page, with what it is about. */
export function address(page, about = {}) {
  const given = Object.entries(about).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given).toString();
  return text ? `${page}?${text}` : page;
}

export const entityLink = (name, label) => el("a", { href: address("/entity", { name }) }, label ?? name);

export const relationLink = (name) => el("a", { href: address("/relation", { name }) }, name);

/** A number as people read it. */
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) >= 100 ? value.toFixed(1) : value.toPrecision(digits);
}

/** Titles above numbers. */
export function numbers(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined);
  return el("dl", { class: "numbers" }, shown.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, typeof value === "number" ? number(value) : value))));
}

/** A table; columns are [title, row => cell, whether it is a number]. */
export function table(caption, columns, rows) {
  const kind = (isNumber) => (isNumber ? { class: "number" } : {});
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "hidden" }, caption),
      el("thead", {}, el("tr", {}, columns.map(([title, , n]) => el("th", { scope: "col", ...kind(n) }, title)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, columns.map(([, cell, n]) => el("td", kind(n), cell(row))))))));
}

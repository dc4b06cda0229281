// DOM elements without a framework. Text is never parsed as HTML, so that names cannot inject markup.

/** An element; attributes that are functions become event listeners. */
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

/** The URL of a view with its parameters. */
export function pageUrl(page, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given).toString();
  return text ? `${page}?${text}` : page;
}

export const entityLink = (name, label) => el("a", { href: pageUrl("/entity", { name }) }, label ?? name);

export const relationLink = (name) => el("a", { href: pageUrl("/relation", { name }) }, name);

/** A number with few digits. */
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) >= 100 ? value.toFixed(1) : value.toPrecision(digits);
}

/** A probability as a percentage; 0 % and 100 % are never shown. */
export function percent(p) {
  if (p < 0.001) return "< 0.1 %";
  return p > 0.995 ? "> 99 %" : `${(100 * p).toFixed(p < 0.0995 ? 1 : 0)} %`;
}

/** A certainty percentile in words, with what it is compared with. */
export function certainty(value, among) {
  if (value === null) return null;
  const rounded = Math.min(99, Math.max(1, Math.round(value)));
  const word = CERTAINTY.find(([least]) => value >= least)[1];
  return el("p", { class: "certainty" }, "Certainty: ", el("strong", {}, `${word}, ${rounded} of 100`),
    el("span", { class: "soft" }, `: more certain than ${rounded} % of ${among}`));
}

const CERTAINTY = [[90, "very high"], [70, "high"], [30, "average"], [10, "low"], [0, "very low"]];

/** Numbers with their titles. */
export function statistics(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined);
  return el("dl", { class: "statistics" }, shown.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, typeof value === "number" ? number(value) : value))));
}

/** A table; columns are [title, row => cell, whether it is numeric]. */
export function table(caption, columns, rows) {
  const kind = (isNumber) => (isNumber ? { class: "number" } : {});
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "hidden" }, caption),
      el("thead", {}, el("tr", {}, columns.map(([title, , n]) => el("th", { scope: "col", ...kind(n) }, title)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, columns.map(([, cell, n]) => el("td", kind(n), cell(row))))))));
}

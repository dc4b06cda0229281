// A plot of the server.

import { plotUrl } from "/page/api.js";
import { el } from "/page/dom.js";

/** A figure with a plot, or with the error message of the server. */
export function plot(path, parameters, { text, caption }) {
  const figure = el("figure", {}, el("p", { class: "wait", role: "status" }, "Loading …"));
  plotUrl(path, parameters).then(
    (source) => figure.replaceChildren(
      el("img", { src: source, alt: text, load: () => URL.revokeObjectURL(source) }),
      el("figcaption", {}, caption)),
    (error) => figure.replaceChildren(el("p", { class: "note" }, error.message)));
  return figure;
}

// A picture that the service draws.

import { picture } from "/page/api.js";
import { el } from "/page/dom.js";

/** A figure; until the picture is there, or where there can be none, it says so. */
export function chart(path, parameters, { text, caption }) {
  const figure = el("figure", {}, el("p", { class: "wait", role: "status" }, "Drawing …"));
  picture(path, parameters).then(
    (source) => figure.replaceChildren(
      el("img", { src: source, alt: text, load: () => URL.revokeObjectURL(source) }),
      el("figcaption", {}, caption)),
    (error) => figure.replaceChildren(el("p", { class: "note" }, error.message)));
  return figure;
}

// A map of all entities in two dimensions.

import { plot } from "/page/plot.js";
import { el } from "/page/dom.js";

export async function map() {
  return {
    title: "Map",
    body: [
      el("h1", {}, "Map"),
      el("section", { class: "card" }, plot("/v1/plots/map", {}, {
        text: "Map of all entities in two dimensions",
        caption: "Similar entities are close to each other. Two dimensions cannot preserve all distances: "
          + "large distances have no meaning.",
      })),
    ],
  };
}

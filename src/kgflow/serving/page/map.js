// All entities in two dimensions.

import { chart } from "/page/chart.js";
import { el } from "/page/dom.js";

export async function map() {
  return {
    title: "Map",
    body: [
      el("h1", {}, "Map"),
      el("section", { class: "card" }, chart("/v1/pictures/map", {}, {
        text: "Map of all entities in two dimensions",
        caption: "Entities that the model takes to be alike lie near each other. Two dimensions cannot hold "
          + "all distances: near is meant, far is not.",
      })),
    ],
  };
}

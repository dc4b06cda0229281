// All relations, and one of them: its numbers, its rules and how the model sees it.

import { get } from "/page/api.js";
import { chart } from "/page/chart.js";
import { address, el, number, numbers, relationLink, table } from "/page/dom.js";

export async function relations() {
  const { relations: rows } = await get("/v1/relations", { limit: 1000 });
  return {
    title: "Relations",
    body: [
      el("h1", {}, "Relations"),
      el("section", { class: "card" }, table("All relations", [
        ["relation", (r) => relationLink(r.name)],
        ["kind", (r) => r.category],
        ["facts", (r) => number(r.count), true],
        ["tails per head", (r) => number(r.tails_per_head), true],
        ["heads per tail", (r) => number(r.heads_per_tail), true],
        ["uncertainty", (r) => number(r.uncertainty), true],
      ], [...rows].sort((a, b) => b.count - a.count))),
    ],
  };
}

export async function relation({ parameters }) {
  const name = parameters.get("name") ?? "";
  const path = `/v1/relations/${encodeURIComponent(name)}`;
  const [found, { rules: believed }] = await Promise.all([get(path), get("/v1/rules", { relation: name })]);
  return {
    title: found.name,
    body: [
      el("h1", {}, found.name),
      numbers([
        ["facts", found.count], ["kind", found.category], ["tails per head", found.tails_per_head],
        ["heads per tail", found.heads_per_tail], ["uncertainty (nats)", found.uncertainty],
      ]),
      el("p", {}, el("a", { href: address("/ask", { relation: found.name }) }, "Ask with this relation")),
      el("div", { class: "stack" },
        el("section", { class: "card", "aria-labelledby": "rules" },
          el("h2", { id: "rules" }, "Rules"), rules(believed)),
        el("section", { class: "card", "aria-labelledby": "function" },
          el("h2", { id: "function" }, "As a function"),
          chart("/v1/pictures/rules", { relation: found.name }, {
            text: `Histograms of the rules of ${found.name}`,
            caption: "How far each rule is from exact in every coordinate of the model, beside other "
              + "relations in its place: filled bars near 0 are a rule that the model has learned.",
          }))),
    ],
  };
}

function rules(rows) {
  if (!rows.length) return el("p", { class: "soft" }, "No rule is believed that the graph has any instance of.");
  return table("Rules of this relation", [
    ["rule", (r) => r.rule],
    ["model confidence", (r) => number(r.model_confidence), true],
    ["holds in the graph", (r) => (r.confidence === null ? "–" : `${Math.round(100 * r.confidence)} %`), true],
    ["of instances", (r) => number(r.support), true],
    ["true in", (r) => r.agreement],
  ], rows);
}

// The list of relations, and one relation with its statistics and rules.

import { get } from "/page/api.js";
import { plot } from "/page/plot.js";
import { certainty, el, number, pageUrl, relationLink, statistics, table } from "/page/dom.js";

export async function relations() {
  const { relations: rows } = await get("/v1/relations", { limit: 1000 });
  return {
    title: "Relations",
    body: [
      el("h1", {}, "Relations"),
      el("section", { class: "card" }, table("All relations", [
        ["relation", (r) => relationLink(r.name)],
        ["category", (r) => r.category],
        ["facts", (r) => number(r.count), true],
        ["tails per head", (r) => number(r.tails_per_head), true],
        ["heads per tail", (r) => number(r.heads_per_tail), true],
        ["certainty (of 100)", (r) => (r.certainty === null ? "–" : Math.round(r.certainty)), true],
      ], [...rows].sort((a, b) => b.count - a.count))),
    ],
  };
}

export async function relation({ parameters }) {
  const name = parameters.get("name") ?? "";
  const path = `/v1/relations/${encodeURIComponent(name)}`;
  const [found, { rules: ruleRows }] = await Promise.all([get(path), get("/v1/rules", { relation: name })]);
  return {
    title: found.name,
    body: [
      el("h1", {}, found.name),
      statistics([
        ["facts", found.count], ["category", found.category], ["tails per head", found.tails_per_head],
        ["heads per tail", found.heads_per_tail],
      ]),
      certainty(found.certainty, "relations"),
      el("p", {}, el("a", { href: pageUrl("/query", { relation: found.name }) }, "Predict with this relation")),
      el("div", { class: "stack" },
        el("section", { class: "card", "aria-labelledby": "rules" },
          el("h2", { id: "rules" }, "Rules"), rules(ruleRows)),
        el("section", { class: "card", "aria-labelledby": "histograms" },
          el("h2", { id: "histograms" }, "Histograms of the rules"),
          plot("/v1/plots/rules", { relation: found.name }, {
            text: `Histograms of the rules of ${found.name}`,
            caption: "Deviation from each rule in every coordinate of the embeddings, compared with that of other "
              + "relations. Filled bars near 0 mean that the model has learned the rule.",
          }))),
    ],
  };
}

function rules(rows) {
  if (!rows.length) return el("p", { class: "soft" }, "Neither the model nor the graph supports a rule.");
  return table("Rules of this relation", [
    ["rule", (r) => r.rule],
    ["model confidence", (r) => number(r.model_confidence), true],
    ["confidence", (r) => (r.confidence === null ? "–" : `${Math.round(100 * r.confidence)} %`), true],
    ["support", (r) => number(r.support), true],
    ["true in", (r) => r.agreement],
  ], rows);
}

// The start page: the graph, the model and its metrics.

import { get, getRun } from "/page/api.js";
import { el, entityLink, pageUrl, percent, statistics } from "/page/dom.js";
import { search } from "/page/search.js";

const FREQUENT = 100, GROUPS = 5, SHOWN = 8; // entities with the most facts, groups of them by type, shown of each

export async function home({ go }) {
  const [run, page] = await Promise.all([
    getRun(), get("/v1/entities", { limit: FREQUENT }),
  ]);
  const metrics = run.metrics.test?.realistic, groups = byType(page.entities);
  const field = search({
    label: "Find an entity", placeholder: groups[0]?.[1][0].label,
    choose: (entity) => go(pageUrl("/entity", { name: entity.name })),
  });
  return {
    title: run.data,
    body: [
      el("div", { class: "hero" },
        el("h1", {}, `Knowledge graph “${run.data}”`),
        el("p", { class: "soft" },
          "Find an entity to see which facts are known about it, which may be missing, how probable each is, and why."),
        el("div", { class: "stack" }, field.node),
        el("p", {}, "Or ", el("a", { href: "/ask" }, "ask a question of several hops"), ", ",
          el("a", { href: "/query" }, "predict one part of a fact"), " or ",
          el("a", { href: "/relations" }, "see the rules of a relation"), ".")),
      statistics([
        ["entities", run.entities], ["relations", run.relations], ["known facts", sum(run.triples)],
        ["model", run.model.name], ["test MRR", metrics?.mrr],
      ]),
      metrics ? el("p", { class: "note" },
        `For ${percent(metrics["hits@1"])} of the test queries the right answer is the first one, `
        + `for ${percent(metrics["hits@10"])} it is among the first ten.`) : null,
      el("div", { class: "stack" },
        el("section", { class: "card" },
          el("h2", {}, "Entities with the most facts"),
          el("dl", { class: "facts" }, groups.map(([type, entities]) => el("div", {},
            el("dt", {}, type),
            el("dd", {}, el("ul", { class: "links" }, entities.slice(0, SHOWN).map((e) => el("li", {}, entityLink(e.name, e.label)))))))))),
    ],
  };
}

/** Entities by their first type, most frequent types first. */
function byType(entities) {
  const groups = new Map();
  for (const entity of entities) {
    const type = entity.types[0] ?? "entity";
    groups.set(type, [...(groups.get(type) ?? []), entity]);
  }
  return [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, GROUPS);
}

const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

// The start page: the graph, the model and its metrics.

import { get, getRun } from "/page/api.js";
import { el, entityLink, pageUrl, statistics } from "/page/dom.js";
import { search } from "/page/search.js";

export async function home({ go }) {
  const [run, page] = await Promise.all([
    getRun(), get("/v1/entities", { limit: 12 }),
  ]);
  const metrics = run.metrics.test?.realistic;
  const field = search({
    label: "Find an entity", placeholder: page.entities[0]?.label,
    choose: (entity) => go(pageUrl("/entity", { name: entity.name })),
  });
  return {
    title: run.data,
    body: [
      el("div", { class: "hero" },
        el("h1", {}, `Knowledge graph “${run.data}”`),
        el("p", { class: "soft" },
          "Search an entity to see its known facts, the facts that the model predicts, their probabilities "
          + "and their explanations."),
        el("div", { class: "stack" }, field.node)),
      statistics([
        ["entities", run.entities], ["relations", run.relations], ["known facts", sum(run.triples)],
        ["model", run.model.name], ["test MRR", metrics?.mrr], ["Hits@1", metrics?.["hits@1"]],
        ["Hits@10", metrics?.["hits@10"]],
      ]),
      el("div", { class: "stack" },
        el("section", { class: "card" },
          el("h2", {}, "Entities with the most facts"),
          el("ul", { class: "links" }, page.entities.map((e) => el("li", {}, entityLink(e.name, e.label)))))),
    ],
  };
}

const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

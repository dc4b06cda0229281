// What this graph is, and where to begin.

import { get, theRun } from "/page/api.js";
import { address, el, entityLink, numbers } from "/page/dom.js";
import { search } from "/page/search.js";

export async function home({ go }) {
  const [run, page] = await Promise.all([
    theRun(), get("/v1/entities", { limit: 12 }),
  ]);
  const found = run.metrics.test?.realistic;
  const field = search({
    label: "Find an entity", placeholder: page.entities[0]?.label,
    choose: (entity) => go(address("/entity", { name: entity.name })),
  });
  return {
    title: run.data,
    body: [
      el("div", { class: "hero" },
        el("h1", {}, `The graph “${run.data}”, and what is missing from it`),
        el("p", { class: "soft" },
          "Find an entity to see what is known of it beside what the model takes to be missing, how "
          + "probable that is, and why."),
        el("div", { class: "stack" }, field.node)),
      numbers([
        ["entities", run.entities], ["relations", run.relations], ["known facts", sum(run.facts)],
        ["model", run.model.name], ["test MRR", found?.mrr], ["Hits@1", found?.["hits@1"]],
        ["Hits@10", found?.["hits@10"]],
      ]),
      el("div", { class: "stack" },
        el("section", { class: "card" },
          el("h2", {}, "Entities with many facts"),
          el("ul", { class: "facts" }, page.entities.map((e) => el("li", {}, entityLink(e.name, e.label)))))),
    ],
  };
}

const sum = (facts) => Object.values(facts).reduce((total, count) => total + count, 0);

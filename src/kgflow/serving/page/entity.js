// One entity: what is known of it beside what is predicted, what is near, and its densities.

import { get } from "/page/api.js";
import { answers } from "/page/answers.js";
import { chart } from "/page/chart.js";
import { el, entityLink, number, numbers, relationLink } from "/page/dom.js";

const SHOWN = 200; // facts on the page

export async function entity({ parameters }) {
  const name = parameters.get("name") ?? "";
  const path = `/v1/entity/${encodeURIComponent(name)}`;
  const [found, suggested] = await Promise.all([
    get(path, { limit: SHOWN }), get("/v1/suggestions", { entity: name, k: 15 }),
  ]);
  return {
    title: found.label,
    body: [
      el("h1", {}, found.label),
      el("p", {},
        found.types.map((type) => el("span", { class: "tag" }, type)),
        found.label === found.name ? null : el("span", { class: "soft" }, found.name)),
      found.trained ? null : el("p", { class: "bad" }, "Training never saw it: what is predicted is a guess."),
      numbers([
        ["known facts", found.fact_count],
        ["uncertainty (nats)", found.uncertainty === null ? null : number(found.uncertainty)],
        ["surer than", found.surer === null ? null : `${Math.round(100 * found.surer)} % of entities`],
      ]),
      el("div", { class: "stack" },
        el("div", { class: "two" },
          el("section", { class: "card", "aria-labelledby": "known" },
            el("h2", { id: "known" }, "Known"), known(found)),
          el("section", { class: "card", "aria-labelledby": "predicted" },
            el("h2", { id: "predicted" }, "Predicted"),
            el("p", { class: "note" }, "The most probable facts that the graph does not hold."),
            answers(suggested.answers, sentence))),
        el("section", { class: "card", "aria-labelledby": "near" },
          el("h2", { id: "near" }, "Near it"),
          el("ul", { class: "facts" }, found.neighbours.map((near) => el("li", {},
            entityLink(near.name, near.label), " ",
            el("span", { class: "note" }, `${number(near.value)}`)))),
          el("p", { class: "note" }, `By ${found.measure} in the model's own space.`),
          chart("/v1/pictures/densities", { entity: [name, ...found.neighbours.slice(0, 3).map((n) => n.name)] }, {
            text: `Densities of ${found.label} and of what is near it`,
            caption: "One coordinate of each distribution, the one that tells them apart best: "
              + "narrow is certain, overlapping is alike.",
          }))),
    ],
  };
}

function sentence(row) {
  return el("span", {}, row.asked === "head" ? entityLink(row.head, row.answer) : row.head_label,
    " ", relationLink(row.relation), " ",
    row.asked === "tail" ? entityLink(row.tail, row.answer) : row.tail_label);
}

function known(found) {
  const groups = new Map();
  for (const fact of found.facts) {
    const forward = fact.head === found.name;
    const key = `${fact.relation} ${forward}`;
    if (!groups.has(key)) groups.set(key, { relation: fact.relation, forward, others: [] });
    groups.get(key).others.push(forward ? [fact.tail, fact.tail_label] : [fact.head, fact.head_label]);
  }
  const more = found.fact_count - found.facts.length;
  return el("div", {},
    [...groups.values()].map(({ relation, forward, others }) => el("div", {},
      el("h3", {}, forward ? null : "… ", relationLink(relation), forward ? " …" : " it"),
      el("ul", { class: "facts" }, others.map(([name, label]) => el("li", {}, entityLink(name, label)))))),
    more > 0 ? el("p", { class: "note" }, `and ${number(more)} more`) : null,
    groups.size ? null : el("p", { class: "soft" }, "Nothing."));
}

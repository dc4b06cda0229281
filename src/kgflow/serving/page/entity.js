// An entity: known and predicted triples, nearest neighbours and densities.

import { get } from "/page/api.js";
import { answers } from "/page/answers.js";
import { plot } from "/page/plot.js";
import { el, entityLink, number, relationLink, statistics } from "/page/dom.js";

const MAX_TRIPLES = 200; // known triples on the page

export async function entity({ parameters }) {
  const name = parameters.get("name") ?? "";
  const path = `/v1/entities/${encodeURIComponent(name)}`;
  const [found, suggested] = await Promise.all([
    get(path, { limit: MAX_TRIPLES }), get("/v1/suggestions", { entity: name, k: 15 }),
  ]);
  return {
    title: found.label,
    body: [
      el("h1", {}, found.label),
      el("p", {},
        found.types.map((type) => el("span", { class: "tag" }, type)),
        found.label === found.name ? null : el("span", { class: "soft" }, found.name)),
      found.trained ? null : el("p", { class: "bad" }, "This entity is not in the training split: its predictions are not reliable."),
      statistics([
        ["known facts", found.triple_count],
        ["certainty", found.certainty === null ? null
          : `more certain than ${Math.round(found.certainty)} % of ${found.certainty_among}`],
      ]),
      el("div", { class: "stack" },
        el("div", { class: "two" },
          el("section", { class: "card", "aria-labelledby": "known" },
            el("h2", { id: "known" }, "Known facts"), known(found)),
          el("section", { class: "card", "aria-labelledby": "predicted" },
            el("h2", { id: "predicted" }, "Predicted facts"),
            el("p", { class: "note" }, "The most probable facts that are not in the graph, each with the probability that it is true."),
            answers(suggested.answers, tripleText))),
        el("section", { class: "card", "aria-labelledby": "near" },
          el("h2", { id: "near" }, "Nearest neighbours"),
          el("ul", { class: "links" }, found.neighbours.map((near) => el("li", {},
            entityLink(near.name, near.label), " ",
            el("span", { class: "note" }, `${number(near.value)}`)))),
          el("p", { class: "note" }, `By ${found.measure} of the key vectors.`),
          plot("/v1/plots/densities", { entity: [name, ...found.neighbours.slice(0, 3).map((n) => n.name)] }, {
            text: `Densities of ${found.label} and its nearest neighbours`,
            caption: "The coordinate in which the distributions differ most. A narrow density means a certain "
              + "entity, overlapping densities mean similar entities.",
          }))),
    ],
  };
}

function tripleText(row) {
  return el("span", {}, row.target === "head" ? entityLink(row.head, row.answer) : row.head_label,
    " ", relationLink(row.relation), " ",
    row.target === "tail" ? entityLink(row.tail, row.answer) : row.tail_label);
}

function known(found) {
  const groups = new Map();
  for (const triple of found.triples) {
    const forward = triple.head === found.name;
    const key = `${triple.relation} ${forward}`;
    if (!groups.has(key)) groups.set(key, { relation: triple.relation, forward, others: [] });
    groups.get(key).others.push(forward ? [triple.tail, triple.tail_label] : [triple.head, triple.head_label]);
  }
  const more = found.triple_count - found.triples.length;
  return el("div", {},
    [...groups.values()].map(({ relation, forward, others }) => el("div", {},
      el("h3", {}, forward ? null : "… ", relationLink(relation), forward ? " …" : ` ${found.label}`),
      el("ul", { class: "links" }, others.map(([name, label]) => el("li", {}, entityLink(name, label)))))),
    more > 0 ? el("p", { class: "note" }, `and ${number(more)} more`) : null,
    groups.size ? null : el("p", { class: "soft" }, "None."));
}

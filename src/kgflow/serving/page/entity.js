// An entity: missing and known facts, nearest neighbours and densities.

import { get } from "/page/api.js";
import { answers } from "/page/answers.js";
import { plot } from "/page/plot.js";
import { certainty, el, entityLink, number, relationLink } from "/page/dom.js";

const MAX_TRIPLES = 200; // known triples on the page
const SHOWN = 0.05; // smaller probabilities are shown only on click

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
      certainty(found.certainty, found.certainty_among),
      el("div", { class: "stack" },
        el("div", { class: "two" },
          el("section", { class: "card", "aria-labelledby": "missing" },
            el("h2", { id: "missing" }, "Possibly missing facts"), missing(suggested.answers)),
          el("section", { class: "card", "aria-labelledby": "known" },
            el("h2", { id: "known" }, `Known facts (${number(found.triple_count)})`), known(found))),
        el("section", { class: "card", "aria-labelledby": "near" },
          el("h2", { id: "near" }, "Most similar entities"),
          el("ul", { class: "links" }, found.neighbours.map((near) => el("li", {}, entityLink(near.name, near.label)))),
          el("p", { class: "note" }, `Nearest first, by ${found.measure} of the key vectors.`),
          plot("/v1/plots/densities", { entity: [name, ...found.neighbours.slice(0, 3).map((n) => n.name)] }, {
            text: `Densities of ${found.label} and its nearest neighbours`,
            caption: "The coordinate in which the distributions differ most. A narrow density means a certain "
              + "entity, overlapping densities mean similar entities.",
          }))),
    ],
  };
}

/** Facts by probability; the very unlikely ones are folded away. */
function missing(rows) {
  const shown = rows.filter((row) => row.probability === null || row.probability >= SHOWN);
  const rest = rows.filter((row) => !shown.includes(row));
  return el("div", {},
    el("p", { class: "note" }, shown.length
      ? "Facts that the graph does not contain, each with the probability that it is true."
      : "Nothing is likely to be missing: no other fact has a probability of 5 % or more."),
    shown.length ? answers(shown, tripleText, true) : null,
    rest.length ? el("details", {},
      el("summary", {}, `${rest.length} very unlikely ${rest.length === 1 ? "fact" : "facts"}`),
      answers(rest, tripleText)) : null);
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
    if (!groups.has(key)) groups.set(key, { relation: triple.relation, forward, others: new Map() });
    const [other, label] = forward ? [triple.tail, triple.tail_label] : [triple.head, triple.head_label];
    // A fact of a symmetric relation is shown once.
    if (forward || !groups.get(`${triple.relation} true`)?.others.has(other)) groups.get(key).others.set(other, label);
  }
  const shown = [...groups.values()].filter(({ others }) => others.size);
  const more = found.triple_count - found.triples.length;
  return el("div", {},
    el("dl", { class: "facts" }, shown.map(({ relation, forward, others }) => el("div", {},
      el("dt", {}, forward ? null : "… ", relationLink(relation), forward ? null : ` ${found.label}`),
      el("dd", {}, el("ul", { class: "links" }, [...others].map(([name, label]) => el("li", {}, entityLink(name, label)))))))),
    more > 0 ? el("p", { class: "note" }, `and ${number(more)} more`) : null,
    shown.length ? null : el("p", { class: "soft" }, "None."));
}

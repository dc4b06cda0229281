// Queries (head, relation, ?), (?, relation, tail) and (head, ?, tail).

import { get, post } from "/page/api.js";
import { answers } from "/page/answers.js";
import { el, pageUrl } from "/page/dom.js";
import { search } from "/page/search.js";

const K = 20;

export async function query({ parameters, go }) {
  const given = Object.fromEntries(["head", "relation", "tail"].map((part) => [part, parameters.get(part) ?? ""]));
  const { relations } = await get("/v1/relations", { limit: 1000 });
  const head = search({ label: "Head", placeholder: "?", value: given.head, choose: (e) => { given.head = e.name; } });
  const tail = search({ label: "Tail", placeholder: "?", value: given.tail, choose: (e) => { given.tail = e.name; } });
  const relation = el("select", { id: "query-relation", change: () => { given.relation = relation.value; } },
    el("option", { value: "" }, "?"),
    relations.map((r) => el("option", { value: r.name, selected: r.name === given.relation }, r.name)));
  const submit = (event) => {
    event.preventDefault();
    for (const [part, field] of [["head", head], ["tail", tail]]) {
      if (!field.input.value.trim()) given[part] = "";
      else if (!given[part]) given[part] = field.input.value.trim();
    }
    go(pageUrl("/query", given));
  };
  const form = el("form", { class: "query", submit },
    head.node, el("div", {}, el("label", { for: "query-relation" }, "Relation"), relation), tail.node,
    el("button", { class: "main", type: "submit" }, "Predict"));
  return {
    title: "Query",
    body: [
      el("h1", {}, "Query"),
      el("p", { class: "soft" }, "Give two of head, relation and tail; the model predicts the third."),
      el("div", { class: "stack" }, el("section", { class: "card" }, form), await result(given)),
    ],
  };
}

async function result(given) {
  const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  if (Object.keys(body).length < 2) return null;
  const box = el("section", { class: "card", "aria-live": "polite" });
  const target = ["head", "relation", "tail"].find((part) => !given[part]);
  const shown = ["head", "relation", "tail"].map((part) => given[part] || "?").join(", ");
  try {
    const found = await post("/v1/predict", { ...body, k: K });
    box.append(el("h2", {}, `(${shown})`), answers(sorted(found.answers).map((row) => ({ ...row, target }))));
  } catch (error) {
    box.append(el("p", { class: "bad" }, error.message));
  }
  return box;
}

/** Known answers, then the others by probability; no entity has a predicted relation to itself. */
function sorted(rows) {
  const others = rows.filter((row) => !row.known && row.head !== row.tail);
  return [...rows.filter((row) => row.known), ...others.sort((a, b) => (b.probability ?? 0) - (a.probability ?? 0))];
}

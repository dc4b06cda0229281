// "X, relation, ?" and "?, relation, Y".

import { get, post } from "/page/api.js";
import { answers } from "/page/answers.js";
import { address, el } from "/page/dom.js";
import { search } from "/page/search.js";

const K = 20;

export async function ask({ parameters, go }) {
  const given = Object.fromEntries(["head", "relation", "tail"].map((part) => [part, parameters.get(part) ?? ""]));
  const { relations } = await get("/v1/relations", { limit: 1000 });
  const head = search({ label: "Head", placeholder: "?", value: given.head, choose: (e) => { given.head = e.name; } });
  const tail = search({ label: "Tail", placeholder: "?", value: given.tail, choose: (e) => { given.tail = e.name; } });
  const relation = el("select", { id: "ask-relation", change: () => { given.relation = relation.value; } },
    el("option", { value: "" }, "?"),
    relations.map((r) => el("option", { value: r.name, selected: r.name === given.relation }, r.name)));
  const submit = (event) => {
    event.preventDefault();
    for (const [part, field] of [["head", head], ["tail", tail]]) {
      if (!field.input.value.trim()) given[part] = "";
      else if (!given[part]) given[part] = field.input.value.trim();
    }
    go(address("/ask", given));
  };
  const form = el("form", { class: "question", submit },
    head.node, el("div", {}, el("label", { for: "ask-relation" }, "Relation"), relation), tail.node,
    el("button", { class: "main", type: "submit" }, "Ask"));
  return {
    title: "Ask",
    body: [
      el("h1", {}, "Ask"),
      el("p", { class: "soft" }, "Give two of the three; the model answers with the third."),
      el("div", { class: "stack" }, el("section", { class: "card" }, form), await result(given)),
    ],
  };
}

async function result(given) {
  const question = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  if (Object.keys(question).length < 2) return null;
  const box = el("section", { class: "card", "aria-live": "polite" });
  const missing = ["head", "relation", "tail"].find((part) => !given[part]);
  const asked = ["head", "relation", "tail"].map((part) => given[part] || "?").join(", ");
  try {
    const found = await post("/v1/predict", { ...question, k: K });
    box.append(el("h2", {}, `(${asked})`), answers(found.answers.map((row) => ({ ...row, asked: missing }))));
  } catch (error) {
    box.append(el("p", { class: "bad" }, error.message));
  }
  return box;
}

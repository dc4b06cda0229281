// Queries of several hops: their text, their graph, and answers with the facts that lead to them.

import { get, post } from "/page/api.js";
import { probability } from "/page/answers.js";
import { drawing } from "/page/drawing.js";
import { el, entityLink, pageUrl, percent } from "/page/dom.js";

const K = 20;

export async function ask({ parameters, go }) {
  const text = parameters.get("query") ?? "", fresh = parameters.get("new") === "yes";
  const { queries } = await get("/v1/ask/examples");
  const field = el("textarea", { id: "ask-text", rows: 3, spellcheck: "false", placeholder: queries[0] ?? "" });
  field.value = text;
  const only = el("input", { id: "ask-new", type: "checkbox", checked: fresh });
  const submit = (event) => {
    event.preventDefault();
    go(pageUrl("/ask", { query: field.value.trim(), new: only.checked ? "yes" : "" }));
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  const form = el("form", { class: "ask", submit },
    el("label", { for: "ask-text" }, "Patterns: head relation tail, with variables such as ?x"), field,
    el("div", { class: "row" },
      el("label", { class: "check", for: "ask-new" }, only, "only answers that do not follow from known facts"),
      el("button", { class: "main", type: "submit" }, "Ask")));
  return {
    title: "Ask",
    body: [
      el("h1", {}, "Ask"),
      el("p", { class: "soft" },
        "Questions of several hops. Patterns are separated by dots; { … } UNION { … } and FILTER NOT EXISTS { … } "
        + "work as in SPARQL. The last variable is the answer."),
      el("div", { class: "stack" },
        el("section", { class: "card" }, form), text ? await result(text, fresh) : null,
        queries.length ? el("section", { class: "card", "aria-labelledby": "examples" },
          el("h2", { id: "examples" }, "Examples"),
          el("ul", { class: "examples" }, queries.map((query) =>
            el("li", {}, el("a", { href: pageUrl("/ask", { query }) }, query))))) : null),
    ],
  };
}

async function result(query, fresh) {
  const box = el("section", { class: "card", "aria-live": "polite" });
  try {
    const found = await post("/v1/ask", { query, k: K, new: fresh });
    box.append(
      el("h2", {}, "Query"), drawing(found.graph),
      el("h2", {}, "Answers"),
      found.answers.length ? el("ol", { class: "answers" }, found.answers.map(answer))
        : el("p", { class: "soft" }, "No entity is an answer."),
      el("p", { class: "note" }, found.exact ? "Exact: no other entity is more probable."
        : `Other entities have probabilities of at most ${found.bound.toPrecision(2)}.`));
  } catch (error) {
    box.append(el("p", { class: "bad" }, error.message));
  }
  return box;
}

function answer(row) {
  return el("li", {}, el("div", { class: "answer" },
    el("div", { class: "what" }, entityLink(row.name, row.answer)),
    el("div", { class: "marks" }, row.known ? el("span", { class: "badge known" }, "known") : null),
    row.known ? null : probability(row.probability),
    row.witness.facts.length ? el("ul", { class: "witness" }, row.witness.facts.map(fact)) : null));
}

function fact({ head, relation, tail, probability: p, known, negated }) {
  return el("li", {}, negated ? el("strong", {}, "not ") : null, `${head} `, el("em", {}, relation), ` ${tail} `,
    el("span", { class: `badge ${known ? "known" : "new"}` }, known ? "known" : percent(p)));
}

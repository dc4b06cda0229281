// Ranked answers with probability and explanation.

import { post } from "/page/api.js";
import { el, entityLink, percent, relationLink } from "/page/dom.js";

/** A list of answers of `/v1/predict`; `title` returns the heading of an answer, `open` explains the first. */
export function answers(rows, title = answerLink, open = false) {
  if (!rows.length) return el("p", { class: "soft" }, "None.");
  return el("ol", { class: "answers" }, rows.map((row, i) => el("li", {}, line(row, title, open && i === 0))));
}

/** A link to the predicted part. */
export function answerLink(row) {
  return row.target === "relation" ? relationLink(row.relation) : entityLink(row[row.target], row.answer);
}

function line(row, title, open) {
  const box = el("div", { class: "explanation", hidden: true });
  const button = explainButton(row, box);
  if (open) button.click();
  return el("div", { class: "answer" },
    el("div", { class: "what" }, title(row)),
    el("div", { class: "marks" }, row.known ? el("span", { class: "badge known" }, "known") : null, button),
    row.known ? null : probability(row.probability, row.trust),
    row.note === null ? null : el("p", { class: "note" }, row.note),
    box);
}

/** A bar as long as the probability, with the number and a word; known facts have none. */
export function probability(p, word) {
  if (p === null) return el("div", { class: "measure soft" }, "probability unknown");
  return el("div", { class: "measure" },
    el("meter", { min: 0, max: 1, value: p, "aria-label": `probability ${percent(p)}` }),
    el("strong", {}, percent(p)), word ? el("span", {}, word) : null);
}

function explainButton(row, box) {
  const triple = `${row.head}, ${row.relation}, ${row.tail}`;
  const button = el("button", {
    class: "plain", type: "button", "aria-expanded": "false", "aria-label": `Explain ${triple}`,
    click: async () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      box.hidden = !open;
      if (open && !box.childNodes.length) await explain(row, box);
    },
  }, "why?");
  return button;
}

async function explain({ head, relation, tail }, box) {
  box.replaceChildren(el("p", { class: "wait" }, "Loading …"));
  try {
    const { reasons } = await post("/v1/explain", { head, relation, tail });
    box.replaceChildren(...(reasons.length
      ? [el("ul", {}, reasons.map((reason) => el("li", {}, reason.text)))]
      : ["No rule and no similar triple supports this answer."]));
  } catch (error) {
    box.replaceChildren(el("span", { class: "bad" }, error.message));
  }
}

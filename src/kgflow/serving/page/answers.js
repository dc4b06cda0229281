// Ranked answers with probability, certainty and explanation.

import { post } from "/page/api.js";
import { el, entityLink, relationLink } from "/page/dom.js";

/** A list of answers of `/v1/predict`; `title` returns the heading of an answer. */
export function answers(rows, title = answerLink) {
  if (!rows.length) return el("p", { class: "soft" }, "No new answers.");
  return el("ol", { class: "answers" }, rows.map((row) => el("li", {}, line(row, title))));
}

/** A link to the predicted part. */
export function answerLink(row) {
  return row.target === "relation" ? relationLink(row.relation) : entityLink(row[row.target], row.answer);
}

function line(row, title) {
  const box = el("div", { class: "explanation", hidden: true });
  return el("div", { class: "answer" },
    el("div", { class: "what" }, title(row)),
    el("div", { class: "marks" },
      el("span", { class: `badge ${row.known ? "known" : "new"}` }, row.known ? "known" : "new"),
      row.trained ? null : el("span", { class: "badge", title: "Not in the training split" }, "untrained"),
      explainButton(row, box)),
    el("div", { class: "measure" },
      ...probability(row), row.certainty === null ? null : certainty(row)),
    row.note === null ? null : el("p", { class: "note" }, row.note),
    box);
}

/** The probability that a fact is true; known facts are not in doubt. */
function probability(row) {
  if (row.known) return [el("span", {}, "known")];
  if (row.probability === null) return [el("span", { class: "soft" }, "probability unknown")];
  const text = percent(row.probability);
  return [el("meter", { min: 0, max: 1, value: row.probability, "aria-label": `probability ${text}` }), el("span", {}, `${text}, ${row.trust}`)];
}

function percent(p) {
  if (p < 0.0005) return "< 0.1 %";
  return p > 0.995 ? "> 99 %" : `${(100 * p).toFixed(p < 0.0995 ? 1 : 0)} %`;
}

/** The certainty of the answer: its percentile among entities like it, or among relations. */
function certainty(row) {
  const title = "How narrow the distribution of the answer is, compared with entities of its type or degree";
  return el("span", { title }, `more certain than ${Math.round(row.certainty)} %`);
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
  box.textContent = "…";
  try {
    const { reasons } = await post("/v1/explain", { head, relation, tail });
    box.replaceChildren(...(reasons.length
      ? [el("ul", {}, reasons.map((reason) => el("li", {}, reason.text)))]
      : ["No rule and no similar triple supports this answer."]));
  } catch (error) {
    box.replaceChildren(el("span", { class: "bad" }, error.message));
  }
}

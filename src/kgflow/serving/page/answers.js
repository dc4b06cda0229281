// Ranked answers, each with how probable and how uncertain it is, and why it was given.

import { post, theRun } from "/page/api.js";
import { el, entityLink, number, relationLink } from "/page/dom.js";

/** A list of answers as `/v1/predict` gives them; `title` says what is shown of each. */
export function answers(rows, title = answered) {
  if (!rows.length) return el("p", { class: "soft" }, "No answer is left: all are known.");
  return el("ol", { class: "answers" }, rows.map((row) => el("li", {}, line(row, title))));
}

/** The answer alone, where the question stands above. */
export function answered(row) {
  return row.asked === "relation" ? relationLink(row.relation) : entityLink(row[row.asked], row.answer);
}

function line(row, title) {
  const probability = `${(100 * row.probability).toFixed(row.probability < 0.0995 ? 1 : 0)} %`;
  const sure = row.uncertainty === null ? null : certainty(row);
  const box = el("div", { class: "why", hidden: true });
  return el("div", { class: "answer" },
    el("div", { class: "what" }, title(row)),
    el("div", { class: "marks" },
      el("span", { class: `badge ${row.known ? "known" : "new"}` }, row.known ? "known" : "new"),
      row.trained ? null : el("span", { class: "badge", title: "Not seen in training" }, "unseen"),
      whyButton(row, box)),
    el("div", { class: "measure" },
      el("meter", { min: 0, max: 1, value: row.probability, "aria-label": `probability ${probability}` }),
      el("span", {}, probability), sure),
    box);
}

/** How sure the model is of the answer itself, by its place among all entities. */
function certainty(row) {
  const title = `Entropy change H(f(x0)) − H(x0) of the answer: ${number(row.uncertainty, 4)} nats, lower is surer`;
  const node = el("span", { title }, `entropy ${number(row.uncertainty)}`);
  theRun().then(({ uncertainty }) => {
    if (uncertainty === null || row.asked === "relation") return;
    const below = uncertainty.filter((limit) => limit !== null && limit < row.uncertainty).length;
    node.textContent = `surer than ${Math.max(0, 100 - below)} %`;
  }, () => {});
  return node;
}

function whyButton(row, box) {
  const about = `${row.head}, ${row.relation}, ${row.tail}`;
  const button = el("button", {
    class: "plain", type: "button", "aria-expanded": "false", "aria-label": `Why ${about}?`,
    click: async () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      box.hidden = !open;
      if (open && !box.childNodes.length) await fill(row, box);
    },
  }, "why?");
  return button;
}

async function fill({ head, relation, tail }, box) {
  box.textContent = "…";
  try {
    const { reasons } = await post("/v1/explain", { head, relation, tail });
    box.replaceChildren(...(reasons.length
      ? [el("ul", {}, reasons.map((reason) => el("li", {}, reason.text)))]
      : ["Nothing known stands near it: take it with care."]));
  } catch (error) {
    box.replaceChildren(el("span", { class: "bad" }, error.message));
  }
}

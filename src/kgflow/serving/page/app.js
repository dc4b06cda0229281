// Which address shows what; links and the back button work as everywhere.

import { Refused, remember, theRun } from "/page/api.js";
import { ask } from "/page/ask.js";
import { address, el } from "/page/dom.js";
import { entity } from "/page/entity.js";
import { home } from "/page/home.js";
import { map } from "/page/map.js";
import { relation, relations } from "/page/relation.js";
import { search } from "/page/search.js";

const PAGES = { "/": home, "/entity": entity, "/relation": relation, "/relations": relations, "/ask": ask, "/map": map };
const main = document.getElementById("main");
let shown = 0;

export function go(where) {
  history.pushState({}, "", where);
  return show(true);
}

async function show(moved) {
  const mine = (shown += 1);
  const { pathname, search: text } = location;
  for (const link of document.querySelectorAll(".bar nav a")) {
    if (link.getAttribute("href") === pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.setAttribute("aria-busy", "true");
  const page = PAGES[pathname] ?? missing;
  const { title, body } = await page({ parameters: new URLSearchParams(text), go }).catch(failed);
  if (mine !== shown) return; // another page was asked for meanwhile
  document.title = `${title} · kgflow`;
  main.replaceChildren(...body.filter((part) => part !== null));
  main.removeAttribute("aria-busy");
  if (moved) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

const missing = async () => { throw new Refused(404, "There is no such page."); };

function failed(error) {
  if (error.status === 401) return { title: "Sign in", body: [signIn()] };
  if (!(error instanceof Refused)) console.error(error);
  const sentence = error instanceof Refused ? error.message : "Something went wrong here.";
  return { title: "Not found", body: [el("h1", {}, "That did not work"), el("p", { class: "bad" }, sentence)] };
}

function signIn() {
  const field = el("input", { id: "token", type: "password", autocomplete: "off" });
  const submit = (event) => { event.preventDefault(); remember(field.value); start(); };
  return el("form", { class: "card", submit },
    el("h1", {}, "This service asks for a token"),
    el("label", { for: "token" }, "Token"), field,
    el("p", {}, el("button", { class: "main", type: "submit" }, "Go on")));
}

async function foot() {
  const run = await theRun().catch(() => null);
  const text = run ? `${run.data} · ${run.model.name}, n = ${run.model.dim} · kgflow ${run.kgflow}` : "kgflow";
  document.getElementById("foot").replaceChildren(text, " · ", el("a", { href: "/v1/openapi.json" }, "API"));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.origin !== location.origin || !(link.pathname in PAGES) || link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
addEventListener("popstate", () => show(true));
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  document.querySelector("#search input").focus();
});

document.getElementById("search").append(search({
  label: "Find an entity", placeholder: "Find an entity  ( / )", hidden: true,
  choose: (found) => go(address("/entity", { name: found.name })),
}).node);

function start() {
  foot();
  show(false);
}

start();

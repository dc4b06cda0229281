// Routing: the view of each path; links and the back button work without reloading.

import { getRun, RequestError, saveToken } from "/page/api.js";
import { ask } from "/page/ask.js";
import { query } from "/page/query.js";
import { el, pageUrl } from "/page/dom.js";
import { entity } from "/page/entity.js";
import { home } from "/page/home.js";
import { map } from "/page/map.js";
import { relation, relations } from "/page/relation.js";
import { search } from "/page/search.js";

const PAGES = { "/": home, "/entity": entity, "/relation": relation, "/relations": relations, "/query": query, "/ask": ask, "/map": map };
const main = document.getElementById("main");
let requests = 0;

export function go(url) {
  history.pushState({}, "", url);
  return show(true);
}

async function show(navigated) {
  const request = (requests += 1);
  const { pathname, search: text } = location;
  for (const link of document.querySelectorAll(".bar nav a")) {
    if (link.getAttribute("href") === pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.setAttribute("aria-busy", "true");
  const page = PAGES[pathname] ?? missing;
  const { title, body } = await page({ parameters: new URLSearchParams(text), go }).catch(failed);
  if (request !== requests) return; // another page was requested meanwhile
  document.title = `${title} · kgflow`;
  main.replaceChildren(...body.filter((part) => part !== null));
  main.removeAttribute("aria-busy");
  if (navigated) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

const missing = async () => { throw new RequestError(404, "This page does not exist."); };

function failed(error) {
  if (error.status === 401) return { title: "Sign in", body: [signIn()] };
  if (!(error instanceof RequestError)) console.error(error);
  const message = error instanceof RequestError ? error.message : "Internal error: see the browser console.";
  return { title: "Error", body: [el("h1", {}, "Error"), el("p", { class: "bad" }, message)] };
}

function signIn() {
  const field = el("input", { id: "token", type: "password", autocomplete: "off" });
  const submit = (event) => { event.preventDefault(); saveToken(field.value); start(); };
  return el("form", { class: "card", submit },
    el("h1", {}, "This server requires a token"),
    el("label", { for: "token" }, "Token"), field,
    el("p", {}, el("button", { class: "main", type: "submit" }, "Sign in")));
}

async function footer() {
  const run = await getRun().catch(() => null);
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
  choose: (found) => go(pageUrl("/entity", { name: found.name })),
}).node);

function start() {
  footer();
  show(false);
}

start();

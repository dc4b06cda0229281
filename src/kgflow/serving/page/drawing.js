// A query as a small graph: names on the left, the answer on the right.

import { el } from "/page/dom.js";

const COLUMN = 235, ROW = 62, WIDTH = 125, HEIGHT = 34, MARGIN = 8;
const LABEL = 18, RELATION = 24; // characters shown

/** An SVG drawing of the nodes and edges of `/v1/ask`. */
export function drawing({ nodes, edges }) {
  const places = layout(nodes, edges);
  const width = Math.max(...places.map(({ x }) => x)) + WIDTH + MARGIN;
  const height = Math.max(...places.map(({ y }) => y)) + HEIGHT + MARGIN;
  const words = edges.map((edge) => sentence(edge, nodes)).join("; ");
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Graph of the query" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing", role: "img", "aria-label": words },
      svg("defs", {}, ["arrow", "arrow-not"].map((id) =>
        svg("marker", { id, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse" },
          svg("path", { d: "M0 0 L8 4 L0 8 z", class: id })))),
      edges.map((edge) => line(edge, places)), nodes.map((node) => box(node, places[node.id]))));
}

/** Left upper corners: the column is the distance from the answer, rows follow the leaves. */
function layout(nodes, edges) {
  const sources = nodes.map(() => []), depth = nodes.map(() => 0);
  for (const { source, target } of edges) {
    sources[target].push(source);
    depth[source] = depth[target] + 1; // edges come from the answer to the names
  }
  const deepest = Math.max(...depth), rows = [];
  let leaves = 0;
  const row = (id) => {
    const below = sources[id].map(row);
    rows[id] = below.length ? (below[0] + below[below.length - 1]) / 2 : leaves++;
    return rows[id];
  };
  row(0);
  return nodes.map(({ id }) => ({ x: MARGIN + (deepest - depth[id]) * COLUMN, y: MARGIN + rows[id] * ROW }));
}

function box({ label, kind }, { x, y }) {
  return svg("g", { class: `vertex ${kind}` },
    svg("title", {}, label),
    svg("rect", { x, y, width: WIDTH, height: HEIGHT, rx: kind === "name" ? 5 : HEIGHT / 2 }),
    svg("text", { x: x + WIDTH / 2, y: y + HEIGHT / 2 + 5 }, shorten(label, LABEL)));
}

function line({ source, target, relation, inverse, negated, alternative }, places) {
  const [x1, y1] = [places[source].x + WIDTH, places[source].y + HEIGHT / 2];
  const [x2, y2] = [places[target].x, places[target].y + HEIGHT / 2];
  const head = `url(#arrow${negated ? "-not" : ""})`, middle = (x1 + x2) / 2;
  const words = `${negated ? "not " : ""}${alternative ? "or " : ""}`;
  const path = `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  return svg("g", { class: `relation${negated ? " not" : ""}${alternative ? " or" : ""}` },
    svg("title", {}, words + relation),
    svg("path", { d: path, [inverse ? "marker-start" : "marker-end"]: head }),
    svg("text", { x: middle, y: (y1 + y2) / 2 - 6 }, words + shorten(relation, RELATION - words.length)));
}

function sentence({ source, target, relation, inverse, negated, alternative }, nodes) {
  const [from, to] = inverse ? [target, source] : [source, target];
  const words = `${nodes[from].label} ${relation} ${nodes[to].label}`;
  return `${negated ? "not " : ""}${alternative ? "or " : ""}${words}`;
}

/** The end of a long name: paths such as /film/film/music differ there. */
const shorten = (text, length) =>
  text.length <= length ? text : text.startsWith("/") ? `…${text.slice(1 - length)}` : `${text.slice(0, length - 1)}…`;

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat());
  return node;
}

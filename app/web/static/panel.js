// The panel of one decision, as it comes: posteriors beside the anchor, and what the agents said.

import { digits, el, percent, seconds } from "./dom.js";

export const nameOf = (agent) => agent.replaceAll("_", " ");
const mass = (distribution, label) => (distribution && Object.hasOwn(distribution, label) ? distribution[label] : 0);

// Why an agent has no answer, by the cause that the service gives.
const CAUSES = {
  deadline: "it was not done at the deadline", timeout: "its attempts took too long",
  connection: "its endpoint cannot be reached", rate_limited: "its endpoint refused for too many requests",
  server_error: "its endpoint failed", refused: "the request or its model refused",
  bad_envelope: "what came back was no answer", truncated: "its reply was cut off",
  unreadable: "its reply could not be read", sampling_refused: "its endpoint takes no such sampling",
  unauthorised: "its endpoint takes no such key", budget: "the budget was used up", crashed: "the service made a mistake",
};
export const causeOf = (agent) => CAUSES[agent.cause] ?? agent.cause ?? "it gave no answer";

/** The label with the most mass; null of none. */
export function topOf(distribution) {
  const [first] = Object.entries(distribution ?? {}).sort((a, b) => b[1] - a[1]);
  return first ? first[0] : null;
}

/** Labels that anybody gave mass to, by the first of these distributions that tells them apart. */
function labelsOf(distributions) {
  const labels = new Set(distributions.flatMap((distribution) => Object.keys(distribution ?? {})));
  const before = (a, b) => distributions.map((d) => mass(d, b) - mass(d, a)).find((difference) => difference !== 0) ?? 0;
  return [...labels].sort(before);
}

/** Who gave what to which label: as a table and, for narrow windows, as a card each; null while nobody gave anything.
 *  `measures` are js, rank and weight by agent, once there is an anchor. */
export function posteriorViews({ agents, anchor, distribution, measures, labelNoun }) {
  const columns = [
    ...(distribution ? [{ head: "Decision", masses: distribution, kind: "decided" }] : []),
    ...(anchor ? [{ head: `Anchor: ${nameOf(anchor.name)}`, masses: anchor.distribution, kind: "anchor" }] : []),
    ...agents.map((agent) => ({ head: nameOf(agent.agent), masses: agent.posterior, kind: "agent", agent })),
  ];
  const labels = labelsOf(columns.map((column) => column.masses));
  if (labels.length === 0) return null;
  const shown = { columns, labels, anchor, measures, labelNoun };
  return [posteriorTable(shown), el("div", { class: "cards" }, columns.map((column) => card(column, shown)))];
}

function posteriorTable({ columns, labels, anchor, measures, labelNoun }) {
  return el(
    "div", { class: "scroll wide", tabindex: 0, role: "region", "aria-label": "Who gave how much to which label" },
    el(
      "table", { class: "posteriors" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, labelNoun), columns.map((column) => el(
        "th", { scope: "col", class: column.kind }, el("span", { class: "name" }, column.head), standing(column, measures, anchor),
      )))),
      el("tbody", {}, labels.map((label) => el(
        "tr", {}, el("th", { scope: "row" }, label), columns.map((column) => el(
          "td", { class: column.kind }, column.masses ? bar(column, label, anchor) : "–",
        )),
      ))),
    ),
  );
}

function card(column, { labels, anchor, measures }) {
  const told = labels.filter((label) => mass(column.masses, label) || (column.agent && mass(anchor?.distribution, label)));
  return el(
    "section", { class: `card ${column.kind}` },
    el("h3", {}, column.head), el("p", { class: "standing" }, standing(column, measures, anchor)),
    column.masses && el("dl", {}, told.map((label) => el(
      "div", {}, el("dt", {}, label), el("dd", {}, bar(column, label, anchor)),
    ))),
  );
}

/** How an agent stands to the anchor, or why it has no answer. */
function standing({ agent }, measures, anchor) {
  if (!agent) return [];
  if (agent.status === "waiting") return [el("small", { class: "waiting" }, "is being asked")];
  if (agent.status === "failed") return [el("small", { class: "warn" }, `failed: ${causeOf(agent)}`)];
  const measured = measures?.get(agent.agent);
  const anchorTop = topOf(anchor?.distribution);
  const agrees = agent.top === anchorTop;
  return [
    measured && el(
      "small", {},
      el("abbr", { title: "Jensen–Shannon divergence from the anchor, in nats: 0 is the same, 0.693 nothing in common" }, "JS"),
      ` ${digits(measured.js)} · rank ${measured.rank}`,
    ),
    measured && el("small", {}, `weight ${digits(measured.weight, 2)}`),
    anchorTop && el("small", { class: agrees ? "agrees" : "warn" }, agrees ? "= anchor's first" : "≠ anchor's first"),
  ];
}

function bar({ masses, kind, agent }, label, anchor) {
  const here = mass(masses, label);
  const first = (agent?.top ?? topOf(masses)) === label;
  const mark = kind === "agent" && anchor?.distribution
    && el("span", { class: "mark", mass: mass(anchor.distribution, label) });
  return [
    el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", mass: here }), mark),
    el("span", { class: `number${first ? " first" : ""}` }, here ? percent(here) : "0", first && el("span", { class: "unseen" }, " first")),
  ];
}

/** One agent and its reasons. */
export function reasonCard(agent) {
  return el(
    "details", { class: "reason", open: true },
    el("summary", {}, el("strong", {}, nameOf(agent.agent)), `: ${summaryOf(agent)}`),
    agent.reasoning && el("p", { class: "pre" }, agent.reasoning),
    agent.detail && el("p", { class: "pre" }, agent.detail),
    agent.status === "ok" && el("p", { class: "hint" }, factsOf(agent)),
  );
}

function summaryOf(agent) {
  if (agent.status === "waiting") return "is being asked …";
  if (agent.status === "failed") return `no usable answer; ${causeOf(agent)}`;
  return `${agent.top}, ${percent(mass(agent.posterior, agent.top))}`;
}

function factsOf(agent) {
  const tokens = agent.tokens ?? {};
  return [
    agent.model && `model ${agent.model}`,
    agent.cached ? "kept from before, nothing was asked" : agent.latency_ms !== null && `took ${seconds(agent.latency_ms)}`,
    tokens.prompt !== null && tokens.prompt !== undefined && `${tokens.prompt} + ${tokens.completion} tokens`,
    agent.stated_sum !== null && `stated masses summed to ${digits(agent.stated_sum, 2)}`,
    agent.unresolved_mass > 0 && `${digits(agent.unresolved_mass, 2)} of it named no label`,
    agent.invalid_entries > 0 && `${agent.invalid_entries} entries could not be used`,
  ].filter(Boolean).join(" · ");
}

// The panel of one decision, as it comes: posteriors beside the anchor, and what was decided on them.

import { digits, el, percent, seconds } from "./dom.js";

export const nameOf = (agent) => agent.replaceAll("_", " ");
const mass = (distribution, label) => (distribution && Object.hasOwn(distribution, label) ? distribution[label] : 0);

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

/** The table of who gave what to which label. `measures` are js, rank and weight by agent, once there is an anchor. */
export function posteriorTable({ agents, anchor, distribution, measures, labelNoun }) {
  const said = agents.filter((agent) => agent.posterior);
  const columns = [
    ...(distribution ? [{ head: "Decision", masses: distribution, kind: "decided" }] : []),
    ...(anchor ? [{ head: `Anchor: ${nameOf(anchor.name)}`, masses: anchor.distribution, kind: "anchor" }] : []),
    ...agents.map((agent) => ({ head: nameOf(agent.agent), masses: agent.posterior, kind: "agent", agent })),
  ];
  const labels = labelsOf([distribution, anchor?.distribution, ...said.map((agent) => agent.posterior)]);
  if (labels.length === 0) return null;
  const anchorTop = topOf(anchor?.distribution);
  return el(
    "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Who gave how much to which label" },
    el(
      "table", { class: "posteriors" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, labelNoun), columns.map((column) => headOf(column, measures, anchorTop)))),
      el("tbody", {}, labels.map((label) => el(
        "tr", {}, el("th", { scope: "row" }, label), columns.map((column) => massCell(column, label, anchor)),
      ))),
    ),
  );
}

function headOf({ head, kind, agent }, measures, anchorTop) {
  const measured = agent && measures?.get(agent.agent);
  const top = agent?.posterior && (agent.top ?? topOf(agent.posterior));
  return el(
    "th", { scope: "col", class: kind },
    el("span", { class: "name" }, head),
    agent?.status === "waiting" && el("small", { class: "waiting" }, "is being asked"),
    agent?.status === "failed" && el("small", { class: "warn" }, `failed: ${agent.cause ?? "no answer"}`),
    measured && el(
      "small", {},
      el("abbr", { title: "Jensen–Shannon divergence from the anchor, in nats: 0 is the same, 0.693 nothing in common" }, "JS"),
      ` ${digits(measured.js)} · rank ${measured.rank}`,
    ),
    measured && el("small", {}, `weight ${digits(measured.weight, 2)}`),
    top && anchorTop && el(
      "small", { class: top === anchorTop ? "agrees" : "warn" }, top === anchorTop ? "= anchor's first" : "≠ anchor's first",
    ),
  );
}

function massCell({ masses, kind, agent }, label, anchor) {
  if (!masses) return el("td", { class: kind }, "–");
  const here = mass(masses, label);
  const first = (agent?.top ?? topOf(masses)) === label;
  const mark = kind === "agent" && anchor?.distribution
    ? el("span", { class: "mark", mass: mass(anchor.distribution, label), "aria-hidden": "true" })
    : null;
  return el(
    "td", { class: `${kind}${first ? " first" : ""}` },
    el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", mass: here }), mark),
    el("span", { class: "number" }, here ? percent(here) : "0"),
  );
}

/** Agents and their reasons, one to open each. */
export function reasonList(agents) {
  return el(
    "section", { class: "panel" },
    el("h2", {}, "What the agents said"),
    agents.map((agent) => el(
      "details", { class: "reason" },
      el("summary", {}, el("strong", {}, nameOf(agent.agent)), ` ${summaryOf(agent)}`),
      agent.reasoning && el("p", { class: "pre" }, agent.reasoning),
      agent.detail && el("p", { class: "pre" }, agent.detail),
      agent.status === "ok" && el("p", { class: "hint" }, factsOf(agent)),
    )),
  );
}

function summaryOf(agent) {
  if (agent.status === "waiting") return "is being asked …";
  if (agent.status === "failed") return `gave no usable answer (${agent.cause ?? "unknown"})`;
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

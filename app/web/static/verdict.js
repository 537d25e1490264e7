// The decision at one glance: what, how sure, who stands where, and what was not as asked.

import { digits, el, fact, percent } from "./dom.js";
import { causeOf, nameOf, topOf } from "./panel.js";

/** Which agents put which label first, the largest camp before others: [[label, names], …]. */
export function campsOf(agents) {
  const camps = new Map();
  for (const agent of agents.filter((each) => each.status === "ok")) {
    camps.set(agent.top, [...(camps.get(agent.top) ?? []), nameOf(agent.agent)]);
  }
  return [...camps].sort((a, b) => b[1].length - a[1].length);
}

/** `collective` is what the aggregator makes of the panel at the values `at`, null for those of the decision. */
export function verdict(decision, collective, at) {
  const [first, second] = Object.entries(collective.distribution).sort((a, b) => b[1] - a[1]);
  const sure = decision.confidence;
  const label = decision.abstained && !at ? null : collective.label;
  const usable = decision.agents.filter((agent) => agent.status === "ok");
  const nearest = usable.find((agent) => agent.rank === 1);
  return el(
    "section", { class: `panel verdict${at ? " supposed" : ""}`, "aria-labelledby": "verdict-title" },
    el("h2", { id: "verdict-title" }, at ? `What if: τ = ${at.tau}, w_R = ${at.w_r}` : "Decision"),
    el("p", { class: "label" }, label ?? "Ask a person: too unsure to decide"),
    at && el("p", { class: "warn" }, decision.label === null ? "Nothing was decided." : `What was decided: ${decision.label}.`),
    el(
      "dl", { class: "sure" },
      fact("collective mass", percent(first[1])),
      second && fact(`margin to ${second[0]}`, percent(first[1] - second[1])),
      label !== null && fact("agents that put it first", `${usable.filter((agent) => agent.top === label).length} of ${usable.length}`),
      sure.js_min !== null && fact(`least JS${nearest ? `, ${nameOf(nearest.agent)}` : ""}`, digits(sure.js_min)),
      sure.js_spread !== null && fact("spread of JS", digits(sure.js_spread)),
    ),
    collective.tied.length > 0 && el("p", { class: "warn" }, `Tied: ${collective.tied.join(", ")}.`),
    stances(decision),
    el("p", { class: "hint" }, `By ${nameOf(decision.aggregator)}${decision.anchor ? ` with the anchor ${nameOf(decision.anchor.name)}` : ""}. `,
      "How compatible the answers are, not how correct; not advice for any patient."),
  );
}

function stances({ agents, anchor }) {
  const camps = campsOf(agents);
  const anchorTop = topOf(anchor?.distribution);
  const labels = [...new Set([...camps.map(([label]) => label), ...(anchorTop ? [anchorTop] : [])])];
  const names = new Map(camps);
  return [
    el("h3", {}, camps.length > 1 ? "The agents disagree: who puts what first" : "The agents all put the same first"),
    el("ul", { class: "camps" }, labels.map((label) => el(
      "li", {}, el("strong", {}, label), " ", (names.get(label) ?? []).map((name) => el("span", { class: "chip" }, name)),
      label === anchorTop && el("span", { class: "chip anchor" }, "the anchor"),
    ))),
  ];
}

/** What was not as asked, in words; null if nothing was. */
export function deviations({ degraded, notes, agents }) {
  if (degraded.length === 0) return null;
  const lost = agents.filter((agent) => agent.status === "failed");
  return el(
    "section", { class: "panel alert" },
    el("h2", {}, "Not as it was asked"),
    el("ul", {}, notes.map((note) => el("li", {}, note.replaceAll("`", ""))),
      lost.map((agent) => el("li", {}, el("strong", {}, nameOf(agent.agent)), `: ${causeOf(agent)}.`))),
    el("p", { class: "hint" }, "For programs: ", el("code", {}, degraded.join(", "))),
  );
}

export const standInNote = () => el(
  "p", { class: "panel stand-in" },
  el("strong", {}, "The stand-in answered. "),
  "It is no language model: it draws from a made-up world, and what it says tells nothing about any real case.",
);

// Everything about one decision, drawn as it comes.

import { contrast } from "./contrast.js";
import { el, percent, seconds } from "./dom.js";
import { heatMap } from "./heat.js";
import { Knobs } from "./knobs.js";
import { nameOf, posteriorViews, reasonCard, topOf } from "./panel.js";
import { campsOf, deviations, standInNote, verdict } from "./verdict.js";

export class Result {
  /** `asked`: {body, agents, domain, heads}; `heads` are the aggregators that the sliders change. */
  constructor(place, asked) {
    this.asked = asked;
    this.agents = new Map(asked.agents.map((agent) => [agent, { agent, status: "waiting" }]));
    this.anchor = null;
    this.decision = null;
    this.again = null; // what the sliders made of it
    this.reasons = el("div", { class: "reasons" });
    this.parts = {
      head: el("div"), table: el("section", { class: "panel" }), contrast: el("div"),
      reasons: el("section", { class: "panel" }, el("h2", {}, "What the agents said"), this.reasons),
      heat: el("div"), knobs: el("div"), compare: el("div"), facts: el("div"),
    };
    place.replaceChildren(...Object.values(this.parts));
    this.agents.forEach((agent) => this.reasons.append(reasonCard(agent)));
    this.#drawTable();
  }

  get answered() {
    return [...this.agents.values()].filter((agent) => agent.status !== "waiting").length;
  }

  agentAnswered(agent) {
    this.#tell(agent);
    this.#drawTable();
  }

  anchorMade(anchor) {
    this.anchor = anchor;
    this.#drawTable();
  }

  decided(decision) {
    this.decision = decision;
    this.anchor = decision.anchor;
    decision.agents.forEach((agent) => this.#tell(agent));
    this.#drawKnobs();
    this.parts.heat.replaceChildren(...some(heatMap(decision.anchor, decision.label)));
    this.parts.contrast.replaceChildren(...some(contrast(decision.anchor, this.#rivals())));
    this.parts.facts.replaceChildren(this.#facts());
    this.#drawDecided();
  }

  failed(problem, panel) {
    (problem.agents ?? []).forEach((agent) => this.#tell(agent));
    this.agents.forEach((agent) => {
      if (agent.status === "waiting") this.#tell({ ...agent, status: "failed", cause: "it was not heard" });
    });
    this.parts.head.replaceChildren(panel);
    this.#drawTable();
  }

  // A card that was there stays as it is, folded or not; what the decision adds to an agent stands in the table.
  #tell(agent) {
    const before = this.agents.get(agent.agent);
    this.agents.set(agent.agent, agent);
    if (before?.status !== "waiting") return;
    this.reasons.children[[...this.agents.keys()].indexOf(agent.agent)].replaceWith(reasonCard(agent));
  }

  #drawDecided() {
    const { decision, again } = this;
    const standIn = decision.stand_in ? standInNote() : null;
    this.parts.head.replaceChildren(
      verdict(decision, this.#collective(), again?.at ?? null), ...some(deviations(decision)), ...some(standIn),
    );
    this.parts.compare.replaceChildren(this.#compared());
    this.#drawTable();
  }

  #drawTable() {
    const agents = [...this.agents.values()];
    const measured = agents.filter((agent) => agent.js !== null && agent.js !== undefined);
    const views = posteriorViews({
      agents, anchor: this.anchor, distribution: this.#collective()?.distribution, labelNoun: this.asked.domain.label_noun,
      measures: this.again?.measures ?? new Map(measured.map((agent) => [agent.agent, agent])),
    });
    const nothing = this.answered < agents.length ? "Waiting for the first agent …" : "No agent gave a usable answer.";
    const scrolled = this.parts.table.querySelector(".scroll")?.scrollLeft ?? 0;
    this.parts.table.replaceChildren(
      el("h2", {}, "The agents beside the anchor"),
      el("p", { class: "hint" }, "Mass by label; ● marks each one's first. The upright line in an agent's bar is where the anchor stands."),
      ...(views ?? [el("p", { class: "hint" }, nothing)]),
    );
    const scroll = this.parts.table.querySelector(".scroll");
    if (scroll) scroll.scrollLeft = scrolled;
  }

  #drawKnobs() {
    const { decision, asked } = this;
    if (!decision.anchor?.log_distribution) return this.parts.knobs.replaceChildren();
    const labels = asked.domain.labels.map((label) => label.label);
    const params = { tau: 5, w_r: 0.2, ...asked.body.params };
    const knobs = new Knobs(decision, labels, asked.heads, params, (again) => {
      this.again = again;
      this.#drawDecided();
    });
    return this.parts.knobs.replaceChildren(knobs.node);
  }

  /** The decision at the values set: {label, distribution, tied}. What the sliders do not touch stays as it was. */
  #collective() {
    if (!this.decision) return null;
    return this.again?.decisions[this.decision.aggregator] ?? this.decision;
  }

  /** The two labels between which it was decided: what won, and what speaks loudest against it. */
  #rivals() {
    const { decision } = this;
    const one = decision.label ?? topOf(decision.distribution);
    const next = Object.entries(decision.distribution).sort((a, b) => b[1] - a[1]).map(([label]) => label);
    const others = [topOf(decision.anchor?.distribution), ...campsOf(decision.agents).map(([label]) => label), ...next];
    return [one, others.find((label) => label && label !== one) ?? one];
  }

  #compared() {
    const { decision, again } = this;
    const all = Object.entries({ [decision.aggregator]: decision, ...decision.compare, ...again?.decisions });
    const said = ([, says]) => says.label ?? topOf(says.distribution);
    const label = this.#collective().label ?? topOf(this.#collective().distribution);
    const alike = all.filter((each) => said(each) === label).length;
    return el(
      "section", { class: "panel" },
      el("h2", {}, "What each aggregator would have said"),
      el("p", {}, alike === all.length ? `All ${alike} say ${label}.` : `${alike} of ${all.length} say ${label}.`),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Aggregators compared" }, el(
        "table", { class: "compare" },
        el("thead", {}, el("tr", {}, ["Aggregator", "Says", "Mass or share"].map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, all.map((each) => comparedRow(each[0], each[1], said(each), label, each[0] === decision.aggregator))),
      )),
    );
  }

  #facts() {
    const { usage, timing_ms: timing, versions, id, model, backbone } = this.decision;
    const cost = usage.cost_usd === null ? "cost unknown" : `${usage.cost_usd.toFixed(4)} USD`;
    const pretty = (value) => el("pre", { tabindex: 0 }, JSON.stringify(value, null, 1));
    return el(
      "section", { class: "panel facts" },
      el("p", { class: "hint" }, [
        `${usage.calls} calls`, cost, seconds(timing.total), `backbone ${backbone} (${model})`,
        `prompts ${versions.prompts}`, `service ${versions.service}`, `id ${id}`,
      ].join(" · ")),
      el("details", {}, el("summary", {}, "The request, as JSON"), pretty(this.asked.body)),
      el("details", {}, el("summary", {}, "The answer, as JSON"), pretty(this.decision)),
    );
  }
}

function comparedRow(name, says, said, label, decides) {
  const most = Math.max(...Object.values(says.distribution));
  return el(
    "tr", { class: decides && "used" },
    el("th", { scope: "row" }, nameOf(name), decides && el("small", {}, " decides")),
    el(
      "td", {}, said,
      says.tied.length > 0 && el("small", {}, ` tied: ${says.tied.join(", ")}`),
      said !== label && el("small", { class: "warn" }, " differs"),
    ),
    el("td", { class: "bar-cell" }, el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", mass: most })),
      el("span", { class: "number" }, percent(most))),
  );
}

const some = (node) => (node ? [node] : []);

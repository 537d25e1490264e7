// Everything about one decision, drawn anew at every event.

import { digits, el, percent, seconds } from "./dom.js";
import { heatMap } from "./heat.js";
import { Knobs } from "./knobs.js";
import { nameOf, posteriorTable, reasonList, topOf } from "./panel.js";

export class Result {
  /** `asked`: {body, agents, domain, rules}; `rules` are the aggregators that ask no model. */
  constructor(place, asked) {
    this.asked = asked;
    this.agents = new Map(asked.agents.map((agent) => [agent, { agent, status: "waiting" }]));
    this.anchor = null;
    this.decision = null;
    this.again = null; // what the sliders made of it
    this.parts = {
      head: el("div"), table: el("section", { class: "panel" }), knobs: el("div"), compare: el("div"),
      heat: el("div"), reasons: el("div"), facts: el("div"),
    };
    place.replaceChildren(...Object.values(this.parts));
    this.#drawTable();
  }

  get answered() {
    return [...this.agents.values()].filter((agent) => agent.status !== "waiting").length;
  }

  agentAnswered(agent) {
    this.agents.set(agent.agent, agent);
    this.#drawTable();
  }

  anchorMade(anchor) {
    this.anchor = anchor;
    this.#drawTable();
  }

  decided(decision) {
    this.decision = decision;
    this.anchor = decision.anchor;
    decision.agents.forEach((agent) => this.agents.set(agent.agent, agent));
    this.#drawKnobs();
    this.parts.heat.replaceChildren(...some(heatMap(decision.anchor)));
    this.parts.facts.replaceChildren(this.#facts());
    this.#drawDecided();
  }

  failed(problem, panel) {
    (problem.agents ?? []).forEach((agent) => this.agents.set(agent.agent, agent));
    this.agents.forEach((agent) => {
      if (agent.status === "waiting") this.agents.set(agent.agent, { ...agent, status: "failed", cause: "not heard" });
    });
    this.parts.head.replaceChildren(panel);
    this.#drawTable();
  }

  #drawDecided() {
    this.parts.head.replaceChildren(this.#verdict(), ...some(this.#degraded()), ...some(this.#standIn()));
    this.parts.compare.replaceChildren(this.#compared());
    this.#drawTable();
  }

  #drawTable() {
    const agents = [...this.agents.values()];
    const measured = agents.filter((agent) => agent.js !== null && agent.js !== undefined);
    const measures = this.again?.measures ?? new Map(measured.map((agent) => [agent.agent, agent]));
    const table = posteriorTable({
      agents, anchor: this.anchor, measures, distribution: this.#collective()?.distribution,
      labelNoun: this.asked.domain.label_noun,
    });
    const waiting = el("p", { class: "hint" }, "Waiting for the first agent …");
    this.parts.table.replaceChildren(
      el("h2", {}, "The agents beside the anchor"),
      el("p", { class: "hint" }, "Mass by label; ● marks each one's first. The line in an agent's bar is where the anchor stands."),
      el("p", { class: "hint narrow" }, "Scroll the table sideways to see every agent."),
      table ?? waiting,
    );
    if (this.answered) this.parts.reasons.replaceChildren(reasonList(agents));
  }

  #drawKnobs() {
    const { decision, asked } = this;
    const params = { tau: 5, w_r: 0.2, ...asked.body.params };
    const anchored = Boolean(decision.anchor?.log_distribution);
    if (!anchored) return this.parts.knobs.replaceChildren();
    const labels = asked.domain.labels.map((label) => label.label);
    const knobs = new Knobs(decision, labels, asked.rules, params, (again) => {
      this.again = again;
      this.#drawDecided();
    });
    return this.parts.knobs.replaceChildren(knobs.node);
  }

  /** The decision at the values set: {label, distribution, tied}. A judge's stays as it was. */
  #collective() {
    if (!this.decision) return null;
    return this.again?.decisions[this.decision.aggregator] ?? this.decision;
  }

  #verdict() {
    const { decision } = this;
    const collective = this.#collective();
    const masses = Object.values(collective.distribution).sort((a, b) => b - a);
    const margin = masses[0] - (masses[1] ?? 0);
    const sure = decision.confidence;
    const label = decision.abstained && !this.again ? null : collective.label;
    const votes = decision.agents.filter((agent) => agent.top === label).length;
    const usable = decision.agents.filter((agent) => agent.status === "ok").length;
    const anchorTop = topOf(decision.anchor?.distribution);
    return el(
      "section", { class: "panel verdict", "aria-labelledby": "verdict-title" },
      el("h2", { id: "verdict-title" }, "Decision"),
      el("p", { class: "label" }, label ?? "Ask a person: too unsure to decide"),
      el(
        "dl", { class: "sure" },
        fact("collective mass", percent(masses[0])),
        fact("margin to the next", percent(margin)),
        fact("agents that put it first", label === null ? "–" : `${votes} of ${usable}`),
        sure.js_min !== null && fact("nearest agent (JS)", digits(sure.js_min)),
        sure.js_spread !== null && fact("spread of JS", digits(sure.js_spread)),
      ),
      collective.tied.length > 0 && el("p", { class: "warn" }, `Tied: ${collective.tied.join(", ")}.`),
      el("p", {}, decision.disagree ? "The agents do not all put the same label first." : "All agents put the same label first."),
      anchorTop && label && anchorTop !== label && el("p", { class: "warn" }, `The anchor alone puts ${anchorTop} first.`),
      el("p", { class: "hint" }, `By ${decision.aggregator}${decision.anchor ? ` with the anchor ${nameOf(decision.anchor.name)}` : ""}. `,
        "How compatible the answers are, not how correct; not advice for any patient."),
    );
  }

  #degraded() {
    const { degraded, notes } = this.decision;
    if (degraded.length === 0) return null;
    return el(
      "section", { class: "panel alert" },
      el("h2", {}, "Not as it was asked"),
      el("ul", {}, notes.map((note) => el("li", {}, note))),
      el("p", { class: "hint" }, "For programs: ", el("code", {}, degraded.join(", "))),
    );
  }

  #standIn() {
    return this.decision.stand_in && el(
      "p", { class: "panel stand-in" },
      el("strong", {}, "The stand-in answered. "),
      "It is no language model: it draws from a made-up world, and what it says tells nothing about any real case.",
    );
  }

  #compared() {
    const { decision, again } = this;
    const own = { [decision.aggregator]: decision };
    const all = Object.entries(again ? again.decisions : { ...own, ...decision.compare });
    const label = this.#collective().label;
    return el(
      "section", { class: "panel" },
      el("h2", {}, "What each aggregator would have said"),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Aggregators compared" }, el(
        "table", { class: "compare" },
        el("thead", {}, el("tr", {}, ["Aggregator", "Says", "Mass or share"].map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, all.map(([name, says]) => el(
          "tr", { class: name === decision.aggregator ? "used" : null },
          el("th", { scope: "row" }, nameOf(name), name === decision.aggregator && el("small", {}, " decides")),
          el(
            "td", {}, says.label ?? topOf(says.distribution),
            says.tied.length > 0 && el("small", {}, ` tied: ${says.tied.join(", ")}`),
            says.label !== label && el("small", { class: "warn" }, " differs"),
          ),
          el("td", { class: "number" }, percent(Math.max(...Object.values(says.distribution)))),
        ))),
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

const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
const some = (node) => (node ? [node] : []);

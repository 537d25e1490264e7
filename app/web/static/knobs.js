// τ and w_R by hand: the same panel is aggregated again by POST /aggregate, and nobody is asked.

import { el } from "./dom.js";
import { post } from "./service.js";

/** What POST /aggregate takes for this decision's panel; the order of a posterior's members is the agent's own. */
export function panelBody(decision, labels, aggregators, params) {
  const said = decision.agents.filter((agent) => agent.status === "ok");
  const anchor = decision.anchor;
  const anchored = anchor?.log_distribution ? { log_anchor: anchor.log_distribution } : {};
  const posteriors = said.map((agent) => Object.entries(agent.posterior));
  return { labels, cases: [{ id: decision.case_id, posteriors, ...anchored }], aggregators, params };
}

export class Knobs {
  /** `aggregators` are those that τ or w_R can change. `changed({decisions, measures, at})` is called with what the panel
   *  gives at the values set, or null for those of the decision. */
  constructor(decision, labels, aggregators, params, changed) {
    Object.assign(this, { decision, labels, aggregators, params, changed });
    this.asked = { ...params };
    this.node = this.#build();
  }

  #build() {
    const [tau, tauOut] = this.#slider("tau", "τ: how sharply a distant agent is weighed down", 0, 20, 0.5);
    const [w, wOut] = this.#slider("w_r", "w_R: the anchor's own share in LogLin", 0, 1, 0.05);
    this.sliders = { tau: [tau, tauOut], w_r: [w, wOut] };
    this.note = el("p", { class: "hint", role: "status" }, "As decided.");
    const back = el("button", { type: "button", on: { click: () => this.#reset() } }, "Back to what was decided");
    return el(
      "section", { class: "panel knobs" },
      el("h2", {}, "What if the anchor counted more, or less?"),
      el("p", { class: "hint" }, "They change the agents' weights and MinJS, FwdJS and LogLin; every other aggregator stays as it is."),
      this.#field(tau, tauOut), this.#field(w, wOut), el("p", { class: "actions" }, back), this.note,
    );
  }

  #slider(name, title, min, max, step) {
    const input = el("input", { type: "range", id: `knob-${name}`, min, max, step, value: this.params[name], "data-title": title });
    const output = el("output", { for: `knob-${name}` }, String(this.params[name]));
    input.addEventListener("input", () => this.#move(name, Number(input.value)));
    return [input, output];
  }

  #field(input, output) {
    return el("p", {}, el("label", { for: input.id }, input.getAttribute("data-title")), input, output);
  }

  #reset() {
    for (const name of Object.keys(this.sliders)) {
      this.sliders[name][0].value = this.params[name];
      this.sliders[name][1].textContent = String(this.params[name]);
    }
    this.asked = { ...this.params };
    this.note.textContent = "As decided.";
    this.changed(null);
  }

  #move(name, value) {
    this.asked = { ...this.asked, [name]: value };
    this.sliders[name][1].textContent = String(value);
    if (!this.running) this.running = this.#catchUp().finally(() => { this.running = null; });
  }

  // One request at a time, and always for the values as they stand now.
  async #catchUp() {
    let done;
    while (done !== this.asked) {
      done = this.asked;
      try {
        const answer = await post("/aggregate", panelBody(this.decision, this.labels, this.aggregators, done));
        if (done === this.asked) this.#tell(answer.cases[0], done);
      } catch (error) {
        this.note.textContent = error.message;
      }
    }
  }

  #tell(result, at) {
    if (at.tau === this.params.tau && at.w_r === this.params.w_r) return this.#reset();
    const said = this.decision.agents.filter((agent) => agent.status === "ok");
    const measures = new Map(said.map((agent, place) => [
      agent.agent, { js: agent.js, rank: agent.rank, weight: result.weights ? result.weights[place] : null },
    ]));
    this.note.textContent = `Aggregated again at τ = ${at.tau} and w_R = ${at.w_r}; nobody was asked again.`;
    return this.changed({ decisions: result.decisions, measures, at });
  }
}

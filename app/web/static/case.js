// The case that is being put together: what is stated of it, and the search that adds to it.

import { byId, el } from "./dom.js";

const KINDS = ["context", "evidence"];
const MOST_SHOWN = 12;

export class CaseBuilder {
  constructor() {
    this.domain = { findings: [], examples: [], case_noun: "case", label_noun: "label" };
    this.id = "";
    this.stated = new Map(); // finding id → {id, text, kind, present, own}
    this.owns = 0;
    byId("search").addEventListener("input", () => this.#showFound());
    byId("search").addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault(); // a search decides nothing
    });
  }

  useDomain(domain) {
    this.domain = domain;
    this.known = new Map(domain.findings.map((finding) => [finding.id, finding]));
    this.clear();
  }

  clear() {
    this.id = "";
    this.stated.clear();
    this.#show();
  }

  /** Put the findings of a `case` in place of what is stated. Throws where it is none, and leaves all as it was. */
  load(body) {
    const stated = KINDS.flatMap((kind) => (body[kind] ?? []).map(({ id, text, present = true }) => {
      const finding = this.known.get(id);
      return [id, { id, kind, present, text: finding?.text ?? text ?? id, own: !finding && text !== undefined, unknown: !finding && !text }];
    }));
    this.id = typeof body.id === "string" ? body.id : "";
    this.stated = new Map(stated);
    this.#show();
  }

  /** The `case` member of a body for POST /decide. */
  get body() {
    const half = (kind) =>
      [...this.stated.values()]
        .filter((finding) => finding.kind === kind)
        .map(({ id, text, present, own }) => ({ id, ...(own && { text }), ...(!present && { present }) }));
    return { id: this.id, context: half("context"), evidence: half("evidence") };
  }

  get empty() {
    return this.stated.size === 0;
  }

  #state(finding, present) {
    this.stated.set(finding.id, { ...finding, present });
    this.#show();
  }

  #drop({ id, kind }) {
    const row = [...byId(kind).querySelectorAll(".drop")].findIndex((button) => button === document.activeElement);
    this.stated.delete(id);
    this.#show();
    const left = byId(kind).querySelectorAll(".drop");
    (left[Math.min(row, left.length - 1)] ?? byId("search")).focus(); // the next one; its button is gone
  }

  #show() {
    for (const kind of KINDS) {
      const field = byId(kind);
      const chosen = [...this.stated.values()].filter((finding) => finding.kind === kind);
      const list = el("ul", { class: "stated" }, chosen.map((finding) => this.#row(finding)));
      const none = el("p", { class: "hint" }, "Nothing stated. Silence is no evidence.");
      field.replaceChildren(field.firstElementChild, chosen.length ? list : none);
    }
    this.#showFound();
  }

  #row(finding) {
    const state = finding.present ? "present" : "absent";
    const turn = () => {
      this.#state(finding, !finding.present);
      document.getElementById(`turn-${finding.kind}-${finding.id}`)?.focus();
    };
    return el(
      "li", { class: state },
      el("span", { class: "text" }, finding.text, finding.own && el("small", {}, " (your own)"),
        finding.unknown && el("small", { class: "warn" }, " (not known here)")),
      el("button", {
        type: "button", class: `state ${state}`, id: `turn-${finding.kind}-${finding.id}`,
        "aria-label": `${finding.text}: ${state}. Turn to ${finding.present ? "absent" : "present"}`, on: { click: turn },
      }, state),
      el("button", {
        type: "button", class: "drop", "aria-label": `Remove ${finding.text}`, on: { click: () => this.#drop(finding) },
      }, "×"),
    );
  }

  #showFound() {
    const typed = byId("search").value.trim();
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ text, id }) => words.every((word) => `${text} ${id}`.toLowerCase().includes(word));
    const free = this.domain.findings.filter((finding) => !this.stated.has(finding.id));
    const found = words.length ? free.filter(fits) : [];
    const shown = found.slice(0, MOST_SHOWN);
    byId("search-count").textContent = words.length
      ? `${found.length} of ${free.length} findings${found.length > shown.length ? `; the first ${shown.length} are shown` : ""}`
      : `${free.length} findings are known here that are not stated yet. Type a word.`;
    const own = words.length > 0 && el(
      "li", {},
      el("span", { class: "text" }, `“${typed}” as a finding of your own`),
      el("span", { class: "pair" }, KINDS.map((kind) => (
        el("button", { type: "button", on: { click: () => this.#addOwn(typed, kind) } }, `as ${kind}`)
      ))),
    );
    byId("found").replaceChildren(...shown.map((finding) => this.#hit(finding)), ...(own ? [own] : []));
  }

  #hit(finding) {
    const add = (present) => el("button", {
      type: "button", "aria-label": `${finding.text}: add as ${present ? "present" : "absent"}`,
      on: {
        click: () => {
          this.#state(finding, present);
          byId("search").focus();
        },
      },
    }, present ? "present" : "absent");
    return el("li", {}, el("span", { class: "text" }, finding.text, el("small", {}, ` ${finding.kind}`)), el("span", { class: "pair" }, add(true), add(false)));
  }

  #addOwn(text, kind) {
    do this.owns += 1;
    while (this.stated.has(`own_${this.owns}`));
    byId("search").value = "";
    this.#state({ id: `own_${this.owns}`, text, kind, own: true }, true);
    byId("search").focus();
  }
}

// Elements are made here and nowhere else. Texts become text nodes, never markup: whatever a case, a pack or a model
// says is shown and not run.

export const byId = (id) => document.getElementById(id);

/** An element. `on` are listeners, `mass` is the length of a bar; other members are attributes (null, undefined and
 *  false leave one out). Children are elements or texts; null and false are left out. */
export function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") Object.entries(value).forEach(([event, listener]) => node.addEventListener(event, listener));
    else if (key === "mass") node.style.setProperty("--mass", String(value));
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function percent(mass) {
  if (mass > 0 && mass < 0.005) return "<1 %";
  return `${Math.round(mass * 100)} %`;
}

export const digits = (number, places = 3) => (number === null || number === undefined ? "–" : number.toFixed(places));

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** A member of a `dl`. */
export const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));

/** What went wrong, as the service put it. */
export function problemPanel(problem) {
  const faults = (problem.errors ?? []).map((fault) => el("li", {}, el("code", {}, fault.field), `: ${fault.message}`));
  const notes = (problem.notes ?? []).map((note) => el("li", {}, note.replaceAll("`", "")));
  const wait = problem.retry_after;
  return el(
    "section", { class: "panel alert", role: "alert" },
    el("h2", {}, problem.title || "Something went wrong"),
    el("p", {}, problem.detail),
    faults.length > 0 && el("ul", {}, faults),
    notes.length > 0 && el("ul", {}, notes),
    wait && el("p", {}, `It is worth asking again in ${Math.ceil(wait)} s.`),
  );
}

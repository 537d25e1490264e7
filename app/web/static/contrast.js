// What tells two labels apart, by the ranks that the anchor rests on: the ratio that each finding makes.

import { el } from "./dom.js";

const LEAST = Math.log(1.05); // below it a finding is said to tell nothing between the two

/** The ratios of two labels, as logarithms: one for each finding of the evidence, one for all the context (its
 *  findings make a noisy OR and have no ratio each). They sum to that of the anchor. */
export function ratios(anchor, one, other) {
  const factor = ({ values, present }, label) => (
    Object.hasOwn(values, label) ? Math.log(present ? values[label] : 1 - values[label]) : 0 // an unrated pair has none
  );
  const evidence = anchor.findings.filter((finding) => finding.kind === "evidence").map((finding) => ({
    text: finding.text, absent: !finding.present, log: factor(finding, one) - factor(finding, other),
  }));
  const context = anchor.prior && [{ text: "All the context together", log: Math.log(anchor.prior[one] / anchor.prior[other]) }];
  return [...evidence, ...(context || [])];
}

/** Two labels to choose and what tells them apart; null where the anchor is not made of findings. */
export function contrast(anchor, [one, other]) {
  const labels = Object.keys(anchor?.distribution ?? {});
  if (!anchor?.findings?.length || labels.length < 2) return null;
  const place = el("div", { "aria-live": "polite" });
  const field = (name, id, chosen) => {
    const select = el("select", { id }, labels.map((label) => el("option", { value: label, selected: label === chosen }, label)));
    select.addEventListener("change", () => draw());
    return [el("p", {}, el("label", { for: id }, name), select), select];
  };
  const [left, leftSelect] = field("This label", "contrast-one", one);
  const [right, rightSelect] = field("against", "contrast-other", other);
  const draw = () => place.replaceChildren(told(anchor, leftSelect.value, rightSelect.value));
  draw();
  return el(
    "section", { class: "panel contrast" },
    el("h2", {}, "What tells two labels apart"),
    el("p", { class: "hint" }, "How many times more one label is spoken for than the other, finding by finding, in the anchor's eyes. ",
      "An agent that decides otherwise weighs these otherwise: compare with its reasons."),
    el("div", { class: "fields" }, left, right), place,
  );
}

function told(anchor, one, other) {
  if (one === other) return el("p", { class: "hint" }, "Choose two labels.");
  const all = ratios(anchor, one, other).sort((a, b) => b.log - a.log);
  const rows = all.filter(({ log }) => Math.abs(log) >= LEAST);
  const most = Math.max(...rows.map(({ log }) => Math.abs(log)), LEAST);
  const silent = all.length - rows.length;
  const sum = all.reduce((total, { log }) => total + log, 0);
  return el(
    "div", {},
    el(
      "table", { class: "ratios" },
      el("thead", {}, el("tr", {}, ["Finding", `for ${one}`, `for ${other}`].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows.map(({ text, absent, log }) => el(
        "tr", {}, el("th", { scope: "row" }, text, absent && el("small", { class: "warn" }, " absent")),
        side(log, most, "for"), side(-log, most, "against"),
      ))),
    ),
    silent > 0 && el("p", { class: "hint" }, `${silent} more tell nothing between the two.`),
    el("p", {}, "Together they make ", el("strong", {}, sum >= 0 ? one : other),
      ` ${times(Math.abs(sum))} as likely as ${sum >= 0 ? other : one}`, anchor.calibration ? ", before the calibration." : "."),
  );
}

const times = (log) => `${Math.exp(log) < 10 ? Math.exp(log).toFixed(1) : Math.round(Math.exp(log))} ×`;

function side(log, most, kind) {
  if (log <= 0) return el("td", { class: kind });
  return el(
    "td", { class: kind }, el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", mass: log / most })),
    el("span", { class: "number" }, times(log)),
  );
}

// Which finding speaks for which label: the ranks that the anchor rests on, as a map.

import { digits, el, percent } from "./dom.js";

const TITLES = {
  evidence: ["Evidence", "P(e|d): among cases of this label, how often is it seen?", "P(e|d), all evidence together"],
  context: ["Context", "P(d|a): how strongly does it by itself point to this label?", "P(d|a), all context together"],
};

/** Ranks by finding and label; the column of the label `decided` is marked. */
export function heatMap(anchor, decided) {
  const findings = anchor?.findings ?? [];
  if (findings.length === 0) return null;
  const labels = Object.keys(anchor.distribution ?? {});
  const half = (kind, together) => {
    const rows = findings.filter((finding) => finding.kind === kind);
    if (rows.length === 0) return [];
    const [title, question, total] = TITLES[kind];
    return el(
      "tbody", {},
      el("tr", { class: "group" }, el("th", { colspan: labels.length + 1, scope: "rowgroup" }, title, el("small", {}, ` ${question}`))),
      rows.map((finding) => row(finding, labels)),
      together && el("tr", { class: "total" }, el("th", { scope: "row" }, total), labels.map((label) => el("td", {}, percent(together[label] ?? 0)))),
    );
  };
  return el(
    "section", { class: "panel" },
    el("h2", {}, "Which finding speaks for which label"),
    el("p", { class: "hint" },
      "Ranks as the elicitor gave them. The stronger the colour, the more the finding speaks for the label; of evidence stated ",
      "absent a low rank does. The anchor is made of these and of nothing else."),
    el("p", { class: "legend" }, "practically never ", [0, 1, 2, 3, 4, 5, 6].map((rank) => el("span", { class: `heat-${rank}` }, String(rank))),
      " practically always"),
    el(
      "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ranks of findings by label" },
      el(
        "table", { class: "heat" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Finding"), labels.map((label) => el(
          "th", { scope: "col" }, label, label === decided && el("small", {}, " decided"),
        )))),
        half("evidence", anchor.likelihood), half("context", anchor.prior),
      ),
    ),
    anchor.missing_pairs > 0 && el("p", { class: "warn" }, `${anchor.missing_pairs} pairs got no rank; they are left out.`),
  );
}

function row(finding, labels) {
  return el(
    "tr", {},
    el("th", { scope: "row" }, finding.text, !finding.present && el("small", { class: "warn" }, " absent")),
    labels.map((label) => {
      if (!Object.hasOwn(finding.ranks, label)) return el("td", { class: "none", title: "nobody rated this pair" }, "–");
      const rank = finding.ranks[label];
      const heat = Math.round(finding.present ? rank : 6 - rank);
      const value = `taken for ${digits(finding.values[label], 2)}`;
      return el("td", { class: `heat-${heat}`, title: value }, Number.isInteger(rank) ? String(rank) : rank.toFixed(1));
    }),
  );
}

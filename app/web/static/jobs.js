// GET /jobs: the caller's batch jobs.

import { byId, el, problemPanel } from "./dom.js";
import { Problem, get, watchKey } from "./service.js";

const HEADS = ["Job", "State", "Cases", "Domain", "Created"];

async function open() {
  try {
    const jobs = await get("/batch");
    byId("status").textContent = jobs.length ? "" : "There are none yet.";
    byId("jobs").replaceChildren(...(jobs.length ? [table(jobs)] : []));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    byId("jobs").replaceChildren(problemPanel(error.body));
  }
}

function table(jobs) {
  const row = (job) => el(
    "tr", {},
    el("th", { scope: "row" }, el("a", { href: `/jobs/${encodeURIComponent(job.id)}` }, job.id.slice(0, 12))),
    el("td", {}, job.state), el("td", { class: "number" }, `${job.done} of ${job.cases ?? "?"}`),
    el("td", {}, job.dataset ?? job.domain), el("td", { class: "number" }, new Date(job.created).toLocaleString()),
  );
  return el(
    "div", { class: "scroll panel", tabindex: 0, role: "region", "aria-label": "Your jobs" },
    el("table", { class: "compare" }, el("thead", {}, el("tr", {}, HEADS.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, jobs.map(row))),
  );
}

watchKey(open);
open();

// GET /jobs/{id}: a batch job, live, and what its report says once there are gold labels.

import { byId, el, fact, percent, problemPanel } from "./dom.js";
import { nameOf } from "./panel.js";
import { Problem, events, get, key, request, watchKey } from "./service.js";

const id = decodeURIComponent(location.pathname.split("/").pop());
const path = `/batch/${encodeURIComponent(id)}`;
const COME_BACK_MS = 2000;
const ENDED = new Set(["done", "cancelled", "failed", "stopped"]);

const say = (text) => { byId("status").textContent = text; };
const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

let watching = 0; // counts the times somebody began to follow: the latest goes on, earlier ones end

async function follow() {
  watching += 1;
  const mine = watching;
  let last = "";
  let job = null;
  byId("report").replaceChildren();
  while (mine === watching && !ENDED.has(job?.state)) {
    try {
      for await (const event of events(`${path}/events`, last ? { headers: { "Last-Event-ID": last } } : {})) {
        if (mine !== watching) return;
        last = event.id ?? last;
        if (event.data) show(job = event.data);
      }
    } catch (error) {
      if (error instanceof Problem && error.body.status !== 0 && error.body.status < 500) return refuse(error.body);
      say("The service does not answer; trying again.");
    }
    if (!ENDED.has(job?.state)) await wait(COME_BACK_MS);
  }
  if (mine === watching) await report();
}

function refuse(problem) {
  byId("job").replaceChildren(problemPanel(problem));
  say("");
}

function show(job) {
  const all = job.cases;
  say(`${job.state}: ${job.done} of ${all ?? "?"} cases have a result.`);
  const errors = Object.entries(job.errors).map(([cause, count]) => `${count} × ${cause}`).join(", ");
  byId("job").replaceChildren(el(
    "section", { class: "panel" },
    el("h2", {}, `${job.dataset ?? job.domain}: ${job.state}`),
    job.cause && el("p", { class: "warn" }, job.cause),
    el("progress", { max: all || 1, value: job.done, "aria-label": "Cases with a result" }),
    el(
      "dl", { class: "sure" },
      fact("cases", `${job.done} of ${all ?? "?"}`), fact("complete", job.counts.ok), fact("degraded", job.counts.degraded),
      fact("failed", job.counts.failed), fact("rate", job.rate_per_s === null ? "–" : `${job.rate_per_s.toFixed(1)} / s`),
      fact("time left", job.remaining_s === null ? "–" : `${Math.ceil(job.remaining_s)} s`), fact("calls", job.calls),
      fact("cost", job.cost_usd === null ? "unknown" : `${job.cost_usd.toFixed(4)} USD`),
    ),
    errors && el("p", { class: "warn" }, `Questions without an answer: ${errors}.`),
    el("p", { class: "hint" }, `Job ${job.id} · backbone ${job.backbone}`),
    !ENDED.has(job.state) && el("p", { class: "actions" }, el("button", { type: "button", on: { click: cancel } }, "Cancel the job")),
  ));
}

async function cancel() {
  try {
    await request(path, { method: "DELETE" });
  } catch (error) {
    if (error instanceof Problem) say(error.message);
  }
}

async function report() {
  const place = byId("report");
  try {
    place.replaceChildren(el("p", { class: "hint" }, "The report is being worked out …"));
    place.replaceChildren(scores(await get(`${path}/report`)));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    place.replaceChildren(el("p", { class: "panel hint" }, `No report: ${error.body.detail}.`));
  }
}

function scores(made) {
  const rows = Object.entries(made.accuracy).sort((a, b) => (b[1].accuracy ?? -1) - (a[1].accuracy ?? -1));
  const headline = made.evaluation?.headline;
  const excluded = Object.entries(made.exclusions).map(([why, count]) => `${count} × ${why}`).join(", ");
  return el(
    "section", { class: "panel" },
    headline && el("h2", {}, headline.opening), headline && el("p", {}, headline.sentence),
    el("h2", {}, "Accuracy against the gold labels"),
    made.stand_in && el("p", { class: "stand-in" }, el("strong", {}, "The stand-in answered. "), "It is no language model: these scores are those of a made-up world."),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Accuracy by aggregator" }, el(
      "table", { class: "compare" },
      el("thead", {}, el("tr", {}, ["Aggregator", "GTPA@1", "Correct"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows.map(([name, score]) => el(
        "tr", {}, el("th", { scope: "row" }, nameOf(name)),
        el("td", { class: "bar-cell" }, el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", mass: score.accuracy ?? 0 })),
          el("span", { class: "number" }, score.accuracy === null ? "–" : percent(score.accuracy))),
        el("td", { class: "number" }, `${score.correct} of ${score.n}`),
      ))),
    )),
    el("p", {}, `${made.pooled} of ${made.labelled} labelled cases are in the pool${excluded ? `; left out: ${excluded}` : ""}.`),
    el("p", { class: "actions" }, key()
      ? el("button", { type: "button", on: { click: save } }, "Save the whole report")
      : el("a", { href: `${path}/report` }, "The whole report")),
  );
}

// A link cannot carry the key, so the page is fetched with it and saved.
async function save() {
  try {
    const page = await (await request(`${path}/report`, { headers: { Accept: "text/html" } })).blob();
    const address = URL.createObjectURL(page);
    el("a", { href: address, download: `report-${id}.html` }).click();
    URL.revokeObjectURL(address);
  } catch (error) {
    if (error instanceof Problem) say(error.message);
  }
}

watchKey(follow);
follow();

// GET /: choose a domain, put a case together, decide it, watch the agents come in.

import { CaseBuilder } from "./case.js";
import { byId, el, problemPanel } from "./dom.js";
import { nameOf } from "./panel.js";
import { Result } from "./result.js";
import { Problem, events, get, watchKey } from "./service.js";

const POOL = ["tot", "medprompt", "cot", "common_bias", "rare_bias"];
const builder = new CaseBuilder();
let rules = []; // aggregators that ask no model
let heads = []; // those of them that use the anchor
let asking = null;

const say = (text) => { byId("status").textContent = text; };
const option = (value, text = value) => el("option", { value }, text);
const failed = (error) => {
  if (!(error instanceof Problem)) throw error;
  byId("result").replaceChildren(problemPanel(error.body));
  say("");
};

async function open() {
  try {
    const [domains, aggregators, anchors, backbones] = await Promise.all(
      ["/domains", "/aggregators", "/anchors", "/backbones"].map(get),
    );
    const free = aggregators.filter((aggregator) => !aggregator.needs_model);
    rules = free.map((aggregator) => aggregator.name);
    heads = free.filter((aggregator) => aggregator.needs_anchor).map((aggregator) => aggregator.name);
    byId("domain").replaceChildren(...domains.map((domain) => option(domain.name, domain.title)));
    fill("aggregator", aggregators.map((aggregator) => aggregator.name), "loglin");
    fill("anchor", anchors.map((anchor) => anchor.name), "reverse");
    fill("backbone", backbones.map((backbone) => backbone.name), "default",
      new Map(backbones.map(({ name, model, stand_in: standIn }) => [name, `${name}: ${standIn ? "the stand-in, no language model" : model}`])));
    byId("result").replaceChildren();
    await chooseDomain();
  } catch (error) {
    failed(error);
  }
}

function fill(id, names, chosen, titles = new Map()) {
  byId(id).replaceChildren(...names.map((name) => option(name, titles.get(name) ?? nameOf(name))));
  if (names.includes(chosen)) byId(id).value = chosen;
}

async function chooseDomain() {
  const name = byId("domain").value;
  if (!name) return;
  try {
    const domain = await get(`/domains/${encodeURIComponent(name)}`);
    builder.useDomain(domain);
    byId("domain-about").textContent =
      `One of ${domain.labels.length} labels (each a ${domain.label_noun}); ${domain.findings.length} findings can be stated of a ${domain.case_noun}.`;
    byId("example").replaceChildren(
      option("", domain.examples.length ? "choose one …" : "there is none"),
      ...domain.examples.map((example, place) => option(String(place), nameOfExample(example.case, place))),
    );
  } catch (error) {
    failed(error);
  }
}

function nameOfExample({ id, context, evidence }, place) {
  return `${id || `example ${place + 1}`} (${context.length} + ${evidence.length} findings)`;
}

function loadExample() {
  const example = builder.domain.examples[Number(byId("example").value)];
  if (byId("example").value !== "" && example) builder.load(example.case);
}

async function loadJson() {
  try {
    const typed = JSON.parse(byId("case-json").value);
    const domains = [...byId("domain").options].map((each) => each.value);
    if (domains.includes(typed.domain) && typed.domain !== byId("domain").value) {
      byId("domain").value = typed.domain;
      await chooseDomain();
    }
    builder.load(typed.case ?? typed);
    byId("example").value = "";
    byId("json-state").textContent = builder.empty ? "It states no finding." : "Loaded.";
  } catch {
    byId("json-state").textContent = "That is no case: {\"context\": [{\"id\": …}], \"evidence\": [{\"id\": …}]} is one.";
  }
}

function bodyNow() {
  const aggregator = byId("aggregator").value;
  return {
    domain: byId("domain").value, case: builder.body, aggregator, anchor: byId("anchor").value,
    backbone: byId("backbone").value, agents: POOL, compare: rules.filter((rule) => rule !== aggregator), explain: true,
  };
}

async function decide(event) {
  event.preventDefault();
  if (asking) return;
  if (builder.empty) {
    say("State at least one finding first.");
    byId("search").focus();
    return;
  }
  asking = new AbortController();
  busy(true);
  const body = bodyNow();
  const result = new Result(byId("result"), { body, agents: POOL, domain: builder.domain, heads });
  say(`0 of ${POOL.length} agents have answered.`);
  byId("status").scrollIntoView();
  try {
    await follow(result, events("/decide", { method: "POST", body, signal: asking.signal }));
  } catch (error) {
    if (error.name === "AbortError") fail(result, { title: "Stopped", detail: "You stopped it; nobody is asked any more." });
    else if (error instanceof Problem) fail(result, error.body);
    else fail(result, { title: "The answer broke off", detail: "The connection ended before there was a decision." });
  } finally {
    asking = null;
    busy(false);
  }
}

async function follow(result, said) {
  let ended = false;
  for await (const { event, data } of said) {
    if (event === "agent") {
      result.agentAnswered(data);
      say(`${result.answered} of ${POOL.length} agents have answered.`);
    } else if (event === "anchor") {
      result.anchorMade(data);
    } else if (event === "decision") {
      ended = true;
      result.decided(data);
      say(data.label === null ? "Too unsure: ask a person." : `Decided: ${data.label}.`);
    } else if (event === "problem") {
      ended = true;
      fail(result, data);
    }
  }
  if (!ended) fail(result, { title: "The answer broke off", detail: "The connection ended before there was a decision." });
}

function fail(result, problem) {
  result.failed(problem, problemPanel(problem));
  say("No decision.");
}

function busy(now) {
  byId("decide").disabled = now;
  byId("stop").hidden = !now;
  byId("ask").setAttribute("aria-busy", String(now));
}

byId("domain").addEventListener("change", chooseDomain);
byId("example").addEventListener("change", loadExample);
byId("load-json").addEventListener("click", loadJson);
byId("clear").addEventListener("click", () => { byId("example").value = ""; builder.clear(); });
byId("stop").addEventListener("click", () => asking?.abort());
byId("ask").addEventListener("submit", decide);
watchKey(open);
open();

// The service's own interface, asked as any program asks it.

const KEY = "crosspath-key";

/** An answer that is an error, or none at all. */
export class Problem extends Error {
  constructor(body) {
    super(body.detail);
    this.body = body;
  }
}

// Kept for this tab, so that it holds from one page to the next; gone when the tab is closed.
export const key = () => sessionStorage.getItem(KEY) ?? "";
export const useKey = (text) => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY));

/** The field for a key, where the service asks for one; `changed` is called when another is given. */
export function watchKey(changed) {
  const form = document.getElementById("key-form");
  if (!form) return;
  const field = document.getElementById("key");
  const state = document.getElementById("key-state");
  const show = () => {
    state.textContent = key()
      ? "A key is set. It is kept in this tab only, until you close it."
      : "This service asks for a key. It is kept in this tab only, until you close it.";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    useKey(field.value.trim());
    field.value = "";
    show();
    changed();
  });
  show();
}

export async function request(path, { method = "GET", body, headers = {}, signal } = {}) {
  const all = { Accept: "application/json", ...headers };
  if (key()) all.Authorization = `Bearer ${key()}`;
  if (body !== undefined) all["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers: all, signal, body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ status: 0, title: "No answer", detail: "The service cannot be reached." });
  }
  if (!response.ok) throw new Problem(await problemOf(response));
  return response;
}

async function problemOf(response) {
  const plain = { status: response.status, title: `Status ${response.status}`, detail: "The service refused." };
  const body = await response.json().catch(() => plain);
  const wait = Number(response.headers.get("retry-after"));
  return wait ? { retry_after: wait, ...body } : body;
}

export const get = async (path) => (await request(path)).json();
export const post = async (path, body, signal) => (await request(path, { method: "POST", body, signal })).json();

/** The events of an answer that is streamed: `{event, id, data}`, data parsed. Ends with the stream. */
export async function* events(path, options = {}) {
  const response = await request(path, { ...options, headers: { ...options.headers, Accept: "text/event-stream" } });
  if (response.status === 204) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const event = read(block);
      if (event.data !== undefined) yield { ...event, data: JSON.parse(event.data) };
    }
  }
}

function read(block) {
  const lines = block.split("\n").filter((line) => line && !line.startsWith(":"));
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    }),
  );
}

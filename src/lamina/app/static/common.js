// What all pages share: calls to the server with its token, messages, and elements whose text is only text.

export const data = JSON.parse(document.getElementById("data").textContent);
const token = document.querySelector('meta[name="lamina-token"]').content;

/** The answer of the server. An error is shown on the page and thrown. */
export async function call(path, body, options = {}) {
  const headers = { "x-lamina-token": token, ...options.headers };
  const request = body === undefined ? { headers } : {
    method: "POST", headers, body: body instanceof Blob ? body : JSON.stringify(body),
  };
  let answer, found;
  try {
    answer = await fetch(path, request);
    found = await answer.json();
  } catch {
    found = { error: "The server does not answer. Is lamina app still running?" };
  }
  if (found.error !== undefined) {
    if (!options.quiet) complain(found.error);
    throw new Error(found.error);
  }
  return found;
}

export const post = (path, body = {}) => call(path, body);

/** Send a table to the server; returns its key and its name there. */
export const take = (file) => call("/api/tables", file, { headers: { "x-name": encodeURIComponent(file.name) } });

/** Show a message at the top of the page; without a text, hide it. */
export function complain(text) {
  const place = document.getElementById("message");
  place.hidden = !text;
  place.textContent = text || "";
  if (text) place.scrollIntoView({ block: "nearest" });
}

/** Say something to those who listen to the page. */
export function say(text) {
  document.getElementById("status").textContent = text;
}

/** An element with attributes; children are elements or texts. Functions among the attributes listen to events. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((one) => one !== null && one !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

export const runAddress = (name) => `/run/${name.split("/").map(encodeURIComponent).join("/")}`;

/** Copy a text, and say so on the button for a while. */
export async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and press Ctrl-C";
  }
  say(button.textContent);
  setTimeout(() => { button.textContent = before; }, 2000);
}

/** Call a function with all runs of this session, now and after every change. */
export function watchJobs(show) {
  const source = new EventSource("/api/events");
  let lost = false;
  source.onmessage = (event) => {
    if (lost) complain("");
    lost = false;
    show(JSON.parse(event.data));
  };
  source.onerror = () => {
    lost = true;
    complain("lamina app does not answer. If it has ended, start it again.");
  };
  window.addEventListener("pagehide", () => {
    source.onerror = null;
    source.close();
  });
}

// A file that is dropped elsewhere than on the first page must not take the place of the page.
if (!byId("drop")) {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    complain("Drop a table on the first page. A second table is added at the option that takes it.");
  });
}

/** A number of seconds in words. */
export function duration(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Where a run stands, in a few words. */
export function standing(job) {
  const { stage, sweeps, r_hat: rHat, ess } = job.progress;
  if (job.state !== "running" || stage === undefined) return job.state;
  if (!sweeps) return stage;
  const known = ess === undefined ? "" : `, R-hat ${(rHat ?? NaN).toFixed(3)}, ${Math.round(ess)} effective draws`;
  return `${stage}: ${sweeps.toLocaleString("en")} sweeps${known}`;
}

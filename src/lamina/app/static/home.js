// The first page: take a table, show what runs, list what has run.
import { byId, call, complain, data, element, post, runAddress, standing, take, watchJobs } from "./common.js";

async function show(file) {
  complain("");
  const { key } = await take(file);
  location.assign(`/table/${key}`);
}

async function choose(what) {
  const { key } = await post("/api/tables/choose", what);
  location.assign(`/table/${key}`);
}

const drop = byId("drop");
byId("file").addEventListener("change", (event) => {
  if (event.target.files.length) show(event.target.files[0]).catch(() => { event.target.value = ""; });
});
for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) drop.classList.remove("over");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  const files = event.dataTransfer.files;
  if (files.length !== 1) complain(files.length ? "Drop one table at a time." : "That is no file.");
  else show(files[0]).catch(() => {});
});

for (const { name, about } of data.records) {
  const button = element("button", { type: "button", click: () => choose({ embedded: name }).catch(() => {}) }, about);
  byId("records").append(element("li", {}, button));
}

async function list() {
  const { runs, tables } = await call("/api/folder");
  byId("in-folder").hidden = !tables.length;
  byId("tables").replaceChildren(...tables.map((name) => element("li", {},
    element("button", { type: "button", click: () => choose({ name }).catch(() => {}) }, name))));
  byId("none").hidden = runs.length > 0;
  byId("history").hidden = !runs.length;
  byId("runs").replaceChildren(...runs.map((run) => {
    const box = element("input", {
      type: "checkbox", name: "run", value: run.folder, "aria-label": `Compare ${run.folder}`, change: count,
    });
    return element("tr", {},
      element("td", {}, box),
      element("td", { class: "text" }, element("a", { href: runAddress(run.folder) }, run.folder)),
      element("td", { class: "text" }, run.table),
      element("td", {}, run.state),
      element("td", {}, new Date(1000 * run.when).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })));
  }));
}

const chosen = () => [...document.querySelectorAll('input[name="run"]:checked')].map((one) => one.value);
function count() {
  byId("compare").disabled = chosen().length !== 2;
}
byId("history").addEventListener("submit", (event) => {
  event.preventDefault();
  const [a, b] = chosen();
  location.assign(`/compare?${new URLSearchParams({ a, b })}`);
});

let over = -1;
watchJobs((jobs) => {
  const ended = jobs.filter((job) => job.over).length;
  const shown = jobs.filter((job) => !job.over || !job.written); // those without results are listed nowhere else
  byId("now").hidden = !shown.length;
  byId("jobs").replaceChildren(...shown.map((job) => element("li", {},
    element("a", { href: `/job/${job.key}` }, job.folder), ` ${standing(job)}`, job.over ? ": nothing is written" : "")));
  if (ended !== over) list().catch(() => {});
  over = ended;
});

// The page of a table: what was understood, what to change, and the fit.
import { byId, copy, data, element, post, say, take } from "./common.js";
import { control } from "./controls.js";
import { showGrid } from "./grid.js";

const commands = Object.fromEntries(data.commands.map((one) => [one.name, one]));
let command = data.choices.command ?? "fit";
let chosen = { ...(data.choices.options ?? {}) };
let followed = Boolean(data.choices.command);
let known = { columns: [], sites: [], choices: {}, tables: data.tables.filter((name) => name !== data.name), add: addTable };
let asked = 0;
/** Options that give a column its role. */
const ROLES = {
  t: "input", t_sd: "input error", y: "output", y_sd: "output error", depth: "depth", thickness: "thickness", order: "order",
  sequence: "core", site_column: "site", latitude: "latitude", longitude: "longitude",
};

const optionOf = (name) => commands[command].options.find((one) => one.name === name);

/** The options that the command has; those of another command stay chosen, for when it comes back. */
function values() {
  return Object.fromEntries(Object.entries(chosen).filter(([name]) => optionOf(name)));
}

/** Take another file, as the value of an option. */
async function addTable(option, file) {
  const { name } = await take(file);
  known.tables = [...new Set([...known.tables, name])];
  change(option, name);
}

function change(name, value) {
  const empty = value === "" || value === false || value === null || (Array.isArray(value) && !value.length);
  if (empty) delete chosen[name]; else chosen[name] = value;
  read();
}

/** Ask the server how the table is read now, and show it. An answer to an older question is dropped. */
async function read() {
  asked += 1;
  const mine = asked;
  byId("fit").disabled = true;
  const found = await post(`/api/tables/${data.key}/read`, { command, options: values() }).catch(() => null);
  if (mine !== asked) return;
  if (!found) return;
  if (!followed && found.suggested in commands && found.suggested !== command) {
    followed = true;
    command = found.suggested;
    showCommands();
    read();
    return;
  }
  followed = true;
  show(found);
}

function show(found) {
  const grid = found.grid;
  const choices = Object.assign({}, known.choices, ...found.problems.map((problem) => problem.choices));
  known = { ...known, choices, columns: grid ? grid.columns.filter(Boolean) : [], sites: sites(grid) };
  const scrolled = byId("grid").scrollTop;
  const roles = Object.keys(ROLES).filter(optionOf).map((name) => [name, ROLES[name]]);
  const point = showGrid(byId("grid"), grid, found.problems, roles, change);
  byId("grid").scrollTop = scrolled;
  byId("grid-heading").hidden = byId("grid").hidden = !grid;
  byId("grid-note").textContent = !grid ? "" : [
    grid.rows > grid.cells.length ? `The first ${grid.cells.length.toLocaleString("en")} of ${grid.rows.toLocaleString("en")} rows.` : "",
    grid.unused.length ? "Rows in grey are not used." : "",
  ].join(" ");
  showProblems(found, point);
  showList("warnings", found.warnings);
  showFacts(found.facts);
  showSettings();
  byId("span").textContent = found.span;
  byId("command").textContent = found.command;
  byId("fit").disabled = !found.works;
  document.documentElement.dataset.read = String(asked);
  say(found.works ? "The table can be read." : `${found.problems.length} things to decide or correct.`);
}

function sites(grid) {
  if (!grid) return [];
  const k = grid.roles.findIndex((role) => role === "site" || role === "core");
  return k < 0 ? [] : [...new Set(grid.cells.map((row) => row[k]).filter(Boolean))].slice(0, 300);
}

function showProblems(found, point) {
  byId("problems-section").hidden = !found.problems.length;
  byId("problems").replaceChildren(...found.problems.map((problem) => {
    const [line, column] = problem.places[0] ?? [null, null];
    const where = line === null && column === null ? null : element("button", {
      type: "button", click: () => point(line, column),
    }, "Show the cell");
    const answers = Object.entries(problem.answers).filter(([name]) => optionOf(name));
    const fields = answers.map(([name]) => control(optionOf(name), chosen[name], known, data.explained, change, "problem"));
    const likely = answers.filter(([, value]) => value !== null);
    const use = likely.length ? element("button", { type: "button", click: () => accept([problem]) },
      `Use the most likely: ${likely.map(([name, value]) => worded(name, value)).join(", ")}`) : null;
    return element("li", {}, element("p", {}, problem.text), element("p", { class: "buttons" }, where, use),
      element("div", { class: "controls" }, ...fields));
  }));
  const open = found.problems.filter((problem) => Object.values(problem.answers).some((value) => value !== null));
  byId("accept").hidden = open.length < 2;
  byId("accept").onclick = () => accept(found.problems);
}

function worded(name, value) {
  const { flag } = optionOf(name);
  return value === true ? flag : `${flag} ${Array.isArray(value) ? value.join(" ") : value}`;
}

function accept(problems) {
  for (const problem of problems) {
    for (const [name, value] of Object.entries(problem.answers)) {
      if (value !== null && optionOf(name)) chosen[name] = Array.isArray(value) ? value.map(String) : value === true ? true : String(value);
    }
  }
  read();
}

function showList(name, texts) {
  byId(`${name}-section`).hidden = !texts.length;
  byId(name).replaceChildren(...texts.map((text) => element("li", {}, text)));
}

function showFacts(facts) {
  const active = document.activeElement?.id;
  byId("facts").replaceChildren(...facts.map((fact, k) => {
    const options = fact.controls.map(optionOf).filter(Boolean);
    return element("div", { class: "fact" },
      element("h3", {}, fact.what),
      element("p", {}, fact.understood, fact.why ? element("span", { class: "why" }, ` ${fact.why}`) : null),
      options.length ? element("details", { open: options.some((one) => one.name in chosen) },
        element("summary", {}, "Change", element("span", { class: "hidden" }, ` ${fact.what}`)),
        ...options.map((one) => control(one, chosen[one.name], known, data.explained, change, `fact${k}`))) : null);
  }));
  if (active) byId(active)?.focus();
}

function showSettings() {
  const { options, reading, main } = commands[command];
  const make = (place) => (one) => control(one, chosen[one.name], known, data.explained, change, place);
  const active = document.activeElement?.id;
  byId("reading").replaceChildren(...options.filter((one) => reading.includes(one.name)).map(make("reading")));
  byId("main-settings").replaceChildren(...main.map(optionOf).filter(Boolean).map(make("main")));
  const rest = options.filter((one) => !reading.includes(one.name) && !main.includes(one.name));
  byId("settings").replaceChildren(...rest.map(make("more")));
  if (active) byId(active)?.focus();
}

function showCommands() {
  byId("commands").replaceChildren(...data.commands.map((one) => element("label", {},
    element("input", {
      type: "radio", name: "command", value: one.name, checked: one.name === command,
      change: () => { command = one.name; followed = true; read(); },
    }), ` ${one.help} `, element("span", { class: "flag" }, `lamina ${one.name}`))));
}

byId("copy").addEventListener("click", () => copy(byId("command").textContent, byId("copy")));
byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (byId("fit").disabled) return;
  byId("fit").disabled = true;
  try {
    const { job } = await post("/api/jobs", { key: data.key, command, options: values() });
    location.assign(`/job/${job}`);
  } catch {
    byId("fit").disabled = false;
  }
});
showCommands();
read();

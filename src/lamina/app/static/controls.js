// A control for each option of a command, made from what the command says of it.
import { element } from "./common.js";

/** Options whose value is the name of a column, with the words that may stand for none. */
const COLUMNS = {
  t: [], y: [], depth: [], order: ["rows", "none"], sequence: ["none"], site_column: [], latitude: [], longitude: [],
};
const COLUMN_OR_NUMBER = ["t_sd", "y_sd", "thickness"];

/** A label with a control for an option. `known`: columns and tables to choose from; `changed` gets the new value. */
export function control(option, value, known, explained, changed, place) {
  const id = `${place}-${option.name}`;
  const label = element("label", { for: id }, option.label, " ", element("span", { class: "flag" }, option.flag));
  const input = makeInput(option, id, value, known, explained, changed);
  const parts = [label, input];
  const list = suggestions(option, known, explained);
  if (list.length && input.tagName === "INPUT" && option.kind !== "flag") {
    input.setAttribute("list", `${id}-list`);
    parts.push(element("datalist", { id: `${id}-list` }, ...list.map((one) => element("option", { value: one }))));
  }
  const words = explained[option.name];
  if (words) {
    const note = element("p", { class: "hint", id: `${id}-note` }, words[input.value || option.default] ?? "");
    input.setAttribute("aria-describedby", note.id);
    input.addEventListener("change", () => { note.textContent = words[input.value || option.default] ?? ""; });
    parts.push(note);
  }
  if (option.kind === "file") parts.push(chooser(option, id, known));
  if (option.kind === "flag") parts.splice(0, 2, element("span", { class: "check" }, input, label));
  return element("div", { class: "control", "data-option": option.name }, ...parts);
}

/** A button that adds a file to those from which the option chooses. */
function chooser(option, id, known) {
  const input = element("input", {
    id: `${id}-file`, class: "hidden", type: "file", change: (event) => {
      if (event.target.files.length) known.add(option.name, event.target.files[0]).catch(() => { event.target.value = ""; });
    },
  });
  return element("span", { class: "add" }, element("label", { class: "button", for: input.id }, "Add a file",
    element("span", { class: "hidden" }, ` for ${option.flag}`)), input);
}

function makeInput(option, id, value, known, explained, changed) {
  const name = option.name;
  if (option.kind === "flag") {
    return element("input", {
      id, type: "checkbox", checked: value === true, change: (event) => changed(name, event.target.checked),
    });
  }
  const choices = option.kind === "choice" ? option.choices
    : name in known.choices ? known.choices[name]
    : name in COLUMNS ? [...COLUMNS[name], ...known.columns] : option.kind === "file" ? known.tables : null;
  if (choices) return select(option, id, value ?? "", choices, changed);
  const several = option.kind === "list" || option.kind === "pair";
  const shown = Array.isArray(value) ? value.join(" ") : value ?? "";
  const hint = several ? "several, with blanks between" : option.default === null ? "automatic" : String(option.default);
  return element("input", {
    id, type: "text", value: shown, placeholder: hint, spellcheck: "false", autocomplete: "off",
    change: (event) => {
      const text = event.target.value.trim();
      changed(name, several ? text.split(/\s+/).filter(Boolean) : text);
    },
  });
}

function select(option, id, value, choices, changed) {
  const none = option.default === null ? "automatic" : null;
  const all = [...new Set([...choices, ...(value ? [value] : [])])];
  return element("select", { id, change: (event) => changed(option.name, event.target.value) },
    none === null ? null : element("option", { value: "" }, none),
    ...all.map((one) => element("option", { value: one, selected: one === (value || option.default) }, one)));
}

function suggestions(option, known, explained) {
  if (COLUMN_OR_NUMBER.includes(option.name)) return known.columns;
  if (["site", "shown_site"].includes(option.name)) return known.sites;
  return Object.keys(explained[option.name] ?? {});
}

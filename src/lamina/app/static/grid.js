// A table of which only the rows in view are in the page, so that thousands scroll as easily as ten.
import { element } from "./common.js";

const ROW = 28, SPARE = 12;

/**
 * Show the cells of a table. Returns a function that scrolls to a line and marks a cell.
 * `roles`: the roles that a column can be given, as pairs of option and word; `changed` gets option and column.
 */
export function showGrid(place, grid, problems, roles, changed) {
  place.replaceChildren();
  if (!grid) return () => {};
  const bad = new Map();
  for (const { places } of problems) {
    for (const [line, column] of places) bad.set(`${line}\n${column ?? ""}`, true);
  }
  const unused = new Set(grid.unused);
  const head = element("thead", {},
    element("tr", { class: "roles" }, element("th", { scope: "col" }, "role"),
      ...grid.roles.map((role, k) => element("td", { class: role ? "role" : "" }, roleMenu(role, grid.columns[k])))),
    element("tr", { class: bad.has(`${grid.header_line}\n`) ? "bad" : "" },
      element("th", { scope: "col" }, "line"),
      ...grid.headers.map((text, k) => element("th", {
        scope: "col", class: marked(grid.header_line, k) ? "bad" : "",
      }, text))));
  const body = element("tbody");
  const table = element("table", { "aria-rowcount": grid.rows + 2, "aria-colcount": grid.headers.length + 1 }, head, body);
  place.append(table);
  let first = -1;

  function roleMenu(role, column) {
    if (!column) return role || "–";
    return element("select", {
      "aria-label": `Role of the column ${column}`, change: (event) => changed(event.target.value, column),
    }, element("option", { value: "", selected: true }, role || "–"),
    ...roles.filter(([, word]) => word !== role).map(([name, word]) => element("option", { value: name }, `use as ${word}`)));
  }

  function marked(line, column) {
    return bad.has(`${line}\n${grid.columns[column]}`) || bad.has(`null\n${grid.columns[column]}`);
  }

  function makeRow(i) {
    const line = grid.lines[i];
    const kind = [unused.has(line) ? "unused" : "", bad.has(`${line}\n`) ? "bad" : ""].join(" ").trim();
    return element("tr", { class: kind, "aria-rowindex": i + 3, "data-line": line },
      element("th", { scope: "row" }, String(line)),
      ...grid.cells[i].map((cell, k) => element("td", { class: marked(line, k) ? "bad" : "" }, cell)));
  }

  function draw() {
    const shown = Math.ceil(place.clientHeight / ROW) + 2 * SPARE;
    const from = Math.max(0, Math.min(Math.floor(place.scrollTop / ROW) - SPARE, grid.cells.length - shown));
    if (from === first) return;
    first = from;
    const to = Math.min(grid.cells.length, from + shown);
    const rows = [];
    for (let i = from; i < to; i += 1) rows.push(makeRow(i));
    body.replaceChildren(space(from), ...rows, space(grid.cells.length - to));
  }

  function space(rows) {
    const row = element("tr", { class: "space", "aria-hidden": "true" }, element("td", { colspan: grid.headers.length + 1 }));
    row.firstChild.style.height = `${rows * ROW}px`;
    return row;
  }

  place.onscroll = draw;
  draw();
  return (line, column) => {
    const at = grid.lines.indexOf(line);
    if (at >= 0) place.scrollTop = Math.max(0, at * ROW - place.clientHeight / 3);
    else if (line === grid.header_line) place.scrollTop = 0;
    draw();
    const k = grid.columns.indexOf(column);
    const row = line === grid.header_line ? head.lastChild : body.querySelector(`[data-line="${Number(line)}"]`);
    const cell = row && (k < 0 ? row.firstChild : row.children[k + 1]);
    place.scrollIntoView({ block: "center" });
    if (cell) {
      cell.scrollIntoView({ block: "nearest", inline: "center" });
      cell.classList.add("shown");
      setTimeout(() => cell.classList.remove("shown"), 2500);
    }
    place.focus({ preventScroll: true });
  };
}

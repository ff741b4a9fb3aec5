// A run that is written: its figures, its dates, rates of intervals, and its files.
import { byId, call, data, element, post } from "./common.js";
import { link, Plot } from "./plots.js";

const query = (values = {}) => new URLSearchParams({ name: data.name, ...values });
/** Figures whose x axis is time and whose curve has a rate; those of sites do not name their axes. */
const RATE = /^figure-(curve|rate|common|site-|parts)/;
let plots = [];

async function begin() {
  const found = await call(`/api/run?${query()}`);
  const { run } = found;
  byId("title").textContent = found.title || data.name;
  byId("lead").textContent = found.lead ?? "";
  byId("banner").hidden = !found.banner;
  byId("banner").textContent = found.banner ?? "";
  byId("command").textContent = run.command;
  const warnings = (run.warnings ?? []).length;
  byId("badges").append(
    element("li", { class: run.state === "converged" ? "" : "bad" }, run.state),
    element("li", {}, `${run.rows} ${run.kind === "agedepth" ? "layers" : "rows"}`), element("li", {}, data.name));
  if (warnings) byId("badges").append(element("li", { class: "bad" }, `${warnings} warning${warnings > 1 ? "s" : ""}`));
  byId("facts").append(
    ...(run.understood ?? []).map(([what, understood, why]) => element("tr", {},
      element("th", { scope: "row" }, what), element("td", { class: "text" }, understood), element("td", { class: "text" }, why))),
    ...(run.warnings ?? []).map((text) => element("tr", {},
      element("th", { scope: "row" }, "warning"), element("td", { class: "text", colspan: "2" }, text))));
  showFiles(found.files);
  showActions(found.files, found.busy);
  plots = found.figures.map((figure) => new Plot(figure, data.name.replaceAll("/", "-")));
  const small = element("div", { class: "many" });
  for (const plot of plots) {
    plot.place.classList.add(plot.figure.size || "middle");
    (plot.figure.size === "small" ? small : byId("figures")).append(plot.box);
  }
  byId("figures").append(small);
  for (const plot of plots) await plot.draw();
  connect();
  document.documentElement.dataset.drawn = String(plots.length);
}

function showFiles(files) {
  byId("zip").href = `/api/run/zip?${query()}`;
  const has = files.includes("report.html");
  byId("report").hidden = !has;
  if (has) byId("report").href = `/api/run/file?${query({ file: "report.html" })}`;
  byId("files").append(...files.map((file) => element("li", {},
    element("a", { href: `/api/run/file?${query({ file })}`, download: file }, file))));
}

function showActions(files, busy) {
  const go = (path, body, to) => async () => {
    const found = await post(path, { name: data.name, ...body }).catch(() => null);
    if (found) location.assign(to(found));
  };
  const toJob = ({ job }) => `/job/${job}`;
  if (files.includes("checkpoint.npz") && !busy) {
    byId("actions").append(element("button", { type: "button", click: go("/api/run/again", { resume: true }, toJob) }, "Continue this run"), " ");
  }
  byId("actions").append(
    element("button", { type: "button", click: go("/api/run/open", {}, ({ key }) => `/table/${key}`) }, "Open its table and settings"));
}

/** What pointing, clicking and dragging do. */
function connect() {
  if (!plots.length) return;
  const time = (plots.find((plot) => RATE.test(plot.figure.id) && plot.title) ?? plots[0]).title;
  const timed = plots.filter((plot) => (plot.title ? plot.title === time : RATE.test(plot.figure.id)));
  link(timed, () => true, ["xaxis"]);
  const hasRate = plots.some((plot) => RATE.test(plot.figure.id));
  byId("tools").hidden = !hasRate;
  for (const plot of plots) {
    plot.on("plotly_click", ({ points }) => {
      const at = points.find((one) => Array.isArray(one.customdata));
      if (at) showDate(...at.customdata);
    });
    plot.on("plotly_selected", (event) => {
      const range = event?.range?.x;
      if (range && RATE.test(plot.figure.id)) rate(...rounded(range, plot));
    });
  }
  listDates();
}

for (const radio of document.querySelectorAll('input[name="drag"]')) {
  radio.addEventListener("change", () => {
    for (const plot of plots) {
      if (!RATE.test(plot.figure.id)) continue;
      plot.drag = radio.value;
      window.Plotly.relayout(plot.place, { dragmode: radio.value });
    }
  });
}

byId("interval").addEventListener("submit", (event) => {
  event.preventDefault();
  const { from, to } = event.target.elements;
  rate(...[from, to].map(({ value }) => Number(value.replace("−", "-"))));
});

/** The ends of an interval that was dragged, to about as many digits as a pixel is wide. */
function rounded(range, plot) {
  const [low, high] = plot.place.layout.xaxis.range.map(Number);
  const step = 10 ** Math.floor(Math.log10(Math.abs(high - low) / 200));
  return range.map((end) => Number((Math.round(end / step) * step).toPrecision(10)));
}

async function rate(from, to) {
  const line = element("li", {}, "Computing the mean rate …");
  byId("rates").append(line);
  const found = await call(`/api/run/rate?${query({ from, to })}`).catch(() => null);
  if (!found) {
    line.remove();
    return;
  }
  const way = `mean rate${found.forward ? " forward in time" : ""}`;
  const worded = (one) => [element("strong", {}, `${found.span}: ${one.text}`), ` ${way}, above zero with probability ${one.above} `];
  const flag = element("span", { class: "flag" }, `--interval ${found.interval}`);
  line.replaceChildren(...(found.sites ? ofSites(found, way) : worded(found)), flag);
  const mark = { type: "rect", yref: "paper", y0: 0, y1: 1, x0: found.first, x1: found.last, fillcolor: "pale", opacity: 0.35, line: { width: 0 }, layer: "below" };
  for (const plot of plots.filter((one) => RATE.test(one.figure.id))) {
    plot.view = Object.fromEntries(["xaxis", "yaxis"].map((axis) => [axis, [...plot.place.layout[axis].range]]));
    plot.marks.push(mark);
    await plot.draw();
  }
}

/** The rate of the common curve of a field, and those of its sites in a table. */
function ofSites({ span, common, sites }, way) {
  const row = (head, one) => element("tr", {}, element("th", { scope: "row", class: "text" }, head),
    element("td", {}, one.text), element("td", {}, one.above));
  const head = element("tr", {}, ...["", way, "above zero with probability"].map((text) => element("th", { scope: "col" }, text)));
  return [element("strong", {}, `${span}: ${way} of each site `),
    element("div", { class: "scroll low", tabindex: "0", role: "region", "aria-label": `${way}, ${span}` },
      element("table", {}, element("thead", {}, head), element("tbody", {},
        ...common.map((one) => row("what all sites have in common", one)), ...sites.map((one) => row(one.site, one)))))];
}

/** Every date that a figure shows, for those who do not click in figures. */
function listDates() {
  const dates = new Map();
  for (const plot of plots) {
    for (const trace of plot.figure.data) {
      (trace.customdata ?? []).forEach((one, k) => {
        if (Array.isArray(one)) dates.set(one[0], [one[1], plain(trace.hovertext[k])]);
      });
    }
  }
  byId("dates").hidden = !dates.size;
  byId("row").replaceChildren(...[...dates].sort(([a], [b]) => a - b).map(([row, [line, name]]) =>
    element("option", { value: `${row} ${line ?? ""}` }, name)));
}

/** The first line of the text of a point, in which Plotly's few tags are escaped. */
function plain(hover) {
  return new DOMParser().parseFromString(hover.split("<br>")[0], "text/html").documentElement.textContent;
}

byId("dates").addEventListener("submit", (event) => {
  event.preventDefault();
  const [row, line] = byId("row").value.split(" ");
  showDate(Number(row), line ? Number(line) : null);
});

async function showDate(row, line) {
  const found = await call(`/api/run/date?${query({ row })}`).catch(() => null);
  if (!found) return;
  const name = [line === null ? `row ${row}` : `line ${line}`, found.label, found.depth && `depth ${found.depth}`].filter(Boolean).join(", ");
  const again = (option) => async () => {
    const made = await post("/api/run/again", { name: data.name, change: { [option]: [String(line)] } }).catch(() => null);
    if (made) location.assign(`/job/${made.job}`);
  };
  const plot = new Plot(densities(found), `date-${row}`);
  plot.place.classList.add("small");
  byId("date").replaceChildren(
    element("h2", { id: "date-title" }, name),
    element("dl", { class: "numbers" },
      element("div", {}, element("dt", {}, "reported"), element("dd", {}, `${found.reported} ${found.unit}`)),
      element("div", {}, element("dt", {}, "posterior"), element("dd", {}, `${found.posterior} ${found.unit}`)),
      found.moved ? element("div", {}, element("dt", {}, "moved by"), element("dd", {}, found.moved)) : null),
    plot.box,
    element("p", { class: "buttons" },
      line === null ? null : element("button", { type: "button", click: again("leave_out") }, "Leave this row out and fit again"),
      line === null ? null : element("button", { type: "button", click: again("ignore_date") }, "Treat the date as an outlier (ignore it) and fit again"),
      element("button", { type: "button", click: () => { byId("date").hidden = true; } }, "Close")));
  byId("date").hidden = false;
  if (found.prior.length || found.draws) await plot.draw(); else plot.box.hidden = true;
  byId("date").dataset.row = String(row);
  byId("row").value = `${row} ${line ?? ""}`;
  byId("date").focus();
}

function densities(found) {
  const look = structuredClone(plots[0].figure.layout);
  const layout = { ...look, shapes: [], annotations: [], xaxis: { ...look.xaxis, title: { text: "" } }, yaxis: { ...look.yaxis, title: { text: "Density" }, rangemode: "tozero", type: "linear" } };
  delete layout.xaxis.range;
  delete layout.yaxis.range;
  for (const key of ["tickvals", "ticktext"]) delete layout.yaxis[key];
  layout.xaxis.title.text = found.name.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const traces = [];
  if (found.prior.length) traces.push({ type: "scatter", mode: "lines", x: found.prior[0], y: found.prior[1], name: "reported", line: { color: "group-1", width: 2 }, hoverinfo: "x" });
  if (found.draws) traces.push({ type: "scatter", mode: "lines", x: found.draws[0], y: found.draws[1], name: "posterior", fill: "tozeroy", fillcolor: "band-95", line: { color: "accent", width: 2, shape: "hvh" }, hoverinfo: "x" });
  return { id: "figure-date", data: traces, layout, alt: `Reported and posterior density: ${found.reported} and ${found.posterior} ${found.unit}`, caption: "" };
}

begin().catch(() => {});

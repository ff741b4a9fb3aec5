// Figures of reports: colours by name, zoom that is linked, and downloads.
import { element } from "./common.js";

const root = document.documentElement;
const touch = window.matchMedia("(pointer: coarse)").matches;
const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** Figures name their colours; the style sheet has them, for light and for dark. Prints and downloads are light. */
function painted(node, colours) {
  if (Array.isArray(node)) {
    return node.every((one) => one === null || typeof one !== "object") ? node : node.map((one) => painted(one, colours));
  }
  if (node === null || typeof node !== "object") return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [
    key,
    /color$/.test(key) && typeof value === "string"
      ? colours.getPropertyValue(`--${value}`).trim() || value : painted(value, colours),
  ]));
}

function light(node) {
  root.classList.add("printing");
  const found = painted(node, getComputedStyle(root));
  root.classList.remove("printing");
  return found;
}

/** A figure in the page. `drag` is what dragging does: "zoom" or "select". */
export class Plot {
  constructor(figure, name) {
    this.figure = figure;
    this.drag = "zoom";
    this.place = element("div", { class: "plot", role: "img", "aria-label": figure.alt || name });
    this.box = element("figure", {}, figure.heading ? element("h3", {}, figure.heading) : null, this.place,
      figure.caption ? element("figcaption", {}, figure.caption) : null, this.buttons(name));
    this.marks = [];
    dark.addEventListener("change", () => this.draw());
  }

  get title() {
    return this.figure.layout.xaxis?.title?.text ?? "";
  }

  async draw() {
    const colours = getComputedStyle(root);
    const layout = painted(this.figure.layout, colours);
    layout.autosize = true;
    layout.dragmode = touch && this.drag === "zoom" ? false : this.drag;
    layout.selectdirection = "h";
    layout.shapes = [...(layout.shapes ?? []), ...painted(this.marks, colours)];
    if (this.view) {
      for (const axis of ["xaxis", "yaxis"]) if (this.view[axis]) layout[axis] = { ...layout[axis], range: [...this.view[axis]] };
    }
    await window.Plotly.react(this.place, painted(this.figure.data, colours), layout, {
      responsive: true, displaylogo: false, displayModeBar: false,
    });
    this.place.dataset.drawn = "yes";
  }

  on(event, listen) {
    this.place.on(event, listen);
  }

  buttons(name) {
    const file = `${name}-${this.figure.id.replace(/^figure-/, "")}`;
    return element("p", { class: "downloads" }, "Save as ", ...["png", "svg", "pdf"].map((format) =>
      element("button", { type: "button", "aria-label": `Save this figure as ${format.toUpperCase()}`, click: () => this.save(format, file) },
        format.toUpperCase())));
  }

  async save(format, file) {
    const layout = { ...light(this.figure.layout), paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" };
    for (const axis of ["xaxis", "yaxis"]) {
      layout[axis] = { ...layout[axis], range: [...this.place.layout[axis].range] };
    }
    const size = { width: Math.max(this.place.clientWidth, 700), height: Math.max(this.place.clientHeight, 420) };
    const picture = { data: light(this.figure.data), layout: { ...layout, ...size } };
    const as = { format: format === "pdf" ? "jpeg" : format, ...size, scale: format === "svg" ? 1 : 3 };
    const address = await window.Plotly.toImage(picture, as);
    const blob = format === "pdf" ? asPdf(address, size, 3) : await toBlob(address);
    const link = element("a", { href: URL.createObjectURL(blob), download: `${file}.${format}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}

async function toBlob(address) {
  const [head, body] = [address.slice(0, address.indexOf(",")), address.slice(address.indexOf(",") + 1)];
  const bytes = head.endsWith(";base64") ? decoded(body) : new TextEncoder().encode(decodeURIComponent(body));
  return new Blob([bytes], { type: head.slice(5).split(";")[0] });
}

function decoded(base64) {
  return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
}

/** A page of PDF that holds one JPEG picture, in points of 1/72 inch where the picture had pixels of 1/96. */
function asPdf(address, { width, height }, scale) {
  const picture = decoded(address.slice(address.indexOf(",") + 1));
  const [w, h] = [(0.75 * width).toFixed(2), (0.75 * height).toFixed(2)];
  const paint = `q ${w} 0 0 ${h} 0 0 cm /Im Do Q`;
  const parts = [], offsets = [];
  let size = 0;
  const add = (part) => {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    parts.push(bytes);
    size += bytes.length;
  };
  const object = (text, stream) => {
    offsets.push(size);
    add(`${offsets.length} 0 obj\n${text}\n`);
    if (stream) ["stream\n", stream, "\nendstream\n"].forEach(add);
    add("endobj\n");
  };
  add("%PDF-1.4\n");
  object("<< /Type /Catalog /Pages 2 0 R >>");
  object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  object(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${w} ${h}] /Contents 4 0 R /Resources << /XObject << /Im 5 0 R >> >> >>`);
  object(`<< /Length ${paint.length} >>`, paint);
  object(`<< /Type /XObject /Subtype /Image /Width ${Math.round(width * scale)} /Height ${Math.round(height * scale)} ` +
    `/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${picture.length} >>`, picture);
  const start = size;
  add(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${offsets.map((one) => `${String(one).padStart(10, "0")} 00000 n \n`).join("")}` +
    `trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return new Blob(parts, { type: "application/pdf" });
}

/** Zooming into one figure zooms the others that `alike` says belong to it; `axes` are those that follow. */
export function link(plots, alike, axes) {
  let busy = false;
  for (const plot of plots) {
    plot.on("plotly_relayout", async (event) => {
      if (busy) return;
      const change = {};
      for (const axis of axes) {
        const [low, high] = [event[`${axis}.range[0]`], event[`${axis}.range[1]`]];
        if (low !== undefined && high !== undefined) change[`${axis}.range`] = [low, high];
        else if (event[`${axis}.autorange`]) change[axis] = "first";
      }
      const keys = Object.keys(change);
      if (!keys.length) return;
      busy = true;
      for (const other of plots) {
        if (!alike(plot, other)) continue;
        const wanted = Object.fromEntries(keys.map((key) => change[key] === "first"
          ? other.first(key) : [key, change[key]]));
        if (other !== plot || keys.some((key) => change[key] === "first")) await window.Plotly.relayout(other.place, wanted);
      }
      busy = false;
    });
  }
}

/** The range of an axis at the beginning, as Plotly takes it. */
Plot.prototype.first = function first(axis) {
  const range = this.view?.[axis] ?? this.figure.layout[axis]?.range;
  return range ? [`${axis}.range`, [...range]] : [`${axis}.autorange`, true];
};

// Two runs side by side: the figures that both have, on the same axes.
import { byId, call, data, element, runAddress } from "./common.js";
import { link, Plot } from "./plots.js";

async function begin() {
  const found = await Promise.all(data.names.map((name) => call(`/api/run?${new URLSearchParams({ name })}`)));
  const both = found[0].figures.map((one) => one.id).filter((id) => found[1].figures.some((other) => other.id === id));
  const plots = found.map((page, k) => both.map((id) =>
    new Plot(page.figures.find((one) => one.id === id), data.names[k].replaceAll("/", "-"))));
  found.forEach((page, k) => {
    byId("two").append(element("section", { "aria-label": data.names[k] },
      element("h2", {}, element("a", { href: runAddress(data.names[k]) }, data.names[k])),
      element("ul", { class: "badges" }, element("li", { class: page.run.state === "converged" ? "" : "bad" }, page.run.state)),
      element("p", {}, element("code", {}, page.run.command)),
      element("p", {}, page.lead ?? ""),
      ...plots[k].map((plot) => plot.box)));
  });
  for (let i = 0; i < both.length; i += 1) {
    const pair = plots.map((side) => side[i]);
    for (const plot of pair) {
      plot.place.classList.add(i === 0 ? "large" : "middle");
      await plot.draw();
    }
    const shared = Object.fromEntries(["xaxis", "yaxis"].map((axis) => [axis, common(pair, axis)]));
    for (const plot of pair) {
      plot.view = shared;
      await plot.draw();
    }
    link(pair, () => true, ["xaxis", "yaxis"]);
  }
  document.documentElement.dataset.drawn = String(2 * both.length);
}

/** The range that holds those of both figures, in the direction of the first; none if their axes differ. */
function common(pair, axis) {
  const [a, b] = pair.map((plot) => plot.place.layout[axis].range.map(Number));
  const kinds = pair.map((plot) => plot.figure.layout[axis]?.title?.text);
  if (kinds[0] !== kinds[1] || [...a, ...b].some(Number.isNaN)) return undefined;
  const low = Math.min(...a, ...b), high = Math.max(...a, ...b);
  return a[0] <= a[1] ? [low, high] : [high, low];
}

begin().catch(() => {});

// A run while it runs.
import { byId, data, duration, element, post, runAddress, say, watchJobs } from "./common.js";

const GOOD = ["converged", "running", "queued"];
const WORDS = {
  queued: "Waiting for a free CPU.",
  running: "Reading the table and preparing the sampler. The first run of all compiles code, which takes a minute.",
  stopping: "Stopping, and writing what there is.",
  converged: "Done.",
  "not converged": "The run has not converged. The results are written and marked.",
  interrupted: "Stopped.",
  refused: "lamina does not accept this:",
  crashed: "The run has crashed. The app goes on.",
};
let last = "", began = 0;

/** The clock goes on between the answers of the server. */
function tick() {
  if (began) byId("seconds").textContent = duration((Date.now() - began) / 1000);
}
setInterval(tick, 1000);

byId("stop").addEventListener("click", () => post(`/api/jobs/${data.key}/stop`).catch(() => {}));

watchJobs((jobs) => {
  const job = jobs.find((one) => one.key === data.key);
  if (!job) return;
  const { stage, note, sweeps, r_hat: rHat, ess, enough_ess: enough } = job.progress;
  byId("state").textContent = job.state;
  byId("state").className = GOOD.includes(job.state) ? "" : "bad";
  byId("command").textContent = job.command;
  byId("sweeps").textContent = sweeps === undefined ? "–" : sweeps.toLocaleString("en");
  byId("r-hat").textContent = typeof rHat === "number" ? rHat.toFixed(3) : "–";
  byId("ess").textContent = typeof ess === "number" ? Math.round(ess).toLocaleString("en") : "–";
  began = job.over || job.state === "queued" ? 0 : Date.now() - 1000 * job.seconds;
  byId("seconds").textContent = duration(job.seconds);
  const now = note ?? (stage ? `${stage[0].toUpperCase()}${stage.slice(1)}.` : null);
  byId("stage").textContent = (job.state === "running" && now) || WORDS[job.state];
  byId("bar").max = enough ?? 400;
  if (job.over) byId("bar").hidden = true;
  else if (typeof ess === "number") byId("bar").value = Math.min(ess, byId("bar").max);
  else byId("bar").removeAttribute("value");
  for (const place of document.querySelectorAll("#stop, #goes-on")) place.hidden = job.over;
  byId("numbers").hidden = job.over && sweeps === undefined;
  byId("stop").disabled = job.state === "stopping";
  byId("said").hidden = !job.said || job.state === "converged";
  byId("said").textContent = job.said;
  if (job.state === last) return;
  last = job.state;
  say(WORDS[job.state]);
  if (!job.over) return;
  byId("after").replaceChildren(
    job.written ? element("a", { class: "button primary", href: runAddress(job.folder), id: "results" }, "See the results") : "",
    " ", job.written ? "" : element("a", { class: "button primary", href: `/table/${job.source}`, id: "back" }, "Change the settings"),
    " ", element("a", { class: "button", href: "/" }, "Back to the first page"));
  if (job.state === "converged") location.replace(runAddress(job.folder));
});

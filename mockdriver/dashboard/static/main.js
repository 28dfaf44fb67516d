// Puts the parts together.

import { call } from "./api.js";
import { Calls } from "./calls.js";
import { Cloud } from "./cloud.js";
import { byId, count, h, say, setText } from "./dom.js";
import { Faults } from "./faults.js";
import { InstanceDialog } from "./instance.js";

const PROBLEM_MILLISECONDS = 8000;
const THEMES = ["system", "light", "dark"];

let problemTimer;
let lastSummary = "";

function showProblem(error) {
  const element = byId("problem");
  // The line at the top says already that the server does not answer.
  if (error.code === "UNAVAILABLE" && error.error === "Gone") return;
  say(element, error.message);
  clearTimeout(problemTimer);
  problemTimer = setTimeout(() => setText(element, ""), PROBLEM_MILLISECONDS);
}

function showFacts(server, summary) {
  const title = server.driver_name ? `${server.driver_name} · mockdriver` : "mockdriver";
  if (document.title !== title) document.title = title;
  const facts = [
    ["driver", server.driver_name],
    ["scenario", server.scenario],
    ["region", summary.region],
    ["instances", count(Number(summary.instances))],
    ["disks", count(Number(summary.disks))],
    ["attachments", count(Number(summary.attachments))],
  ].filter(([, value]) => value);
  const seen = JSON.stringify(facts);
  if (seen === lastSummary) return;
  lastSummary = seen;
  byId("facts").replaceChildren(
    ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function showLive(state) {
  const element = byId("live");
  element.dataset.state = state;
  setText(element, state === "live" ? "live" : "the server does not answer, trying again");
}

function applyTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  setText(byId("theme"), `Theme: ${theme}`);
}

function startTheme() {
  let theme = THEMES.includes(localStorage.theme) ? localStorage.theme : "system";
  applyTheme(theme);
  byId("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    localStorage.theme = theme;
    applyTheme(theme);
  });
}

function startKeys() {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea, dialog");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      byId("search").focus();
    }
  });
}

/** Ask before, for nothing brings back what was there. */
function startReset() {
  byId("reset").addEventListener("click", async () => {
    if (!confirm("Back to the loaded scenario? Everything that has happened since is lost.")) return;
    try {
      await call("State/Reset");
      say(byId("said"), "Everything is as the scenario says.");
    } catch (error) {
      showProblem(error);
    }
    calls.forget();
    faults.refresh();
    cloud.refresh();
  });
}

startTheme();
startKeys();
startReset();

const dialog = new InstanceDialog({ onChange: () => cloud.refresh() });
const cloud = new Cloud({
  onOpen: (id) => dialog.open(id),
  onProblem: showProblem,
  onSummary: showFacts,
});
const faults = new Faults({ onProblem: showProblem });
const calls = new Calls({
  onCall: (item) => {
    const node = item.request?.node_id || item.node_id;
    if (node) cloud.flash(node);
    faults.sawRpc(item.rpc);
    if (item.faults.length || item.code === "RUNNING") faults.refreshSoon();
    cloud.refreshSoon();
  },
  onLive: (state) => {
    showLive(state);
    if (state === "live") cloud.refresh();
  },
  onProblem: showProblem,
});

cloud.onRefresh(() => dialog.refresh());
cloud.start();
calls.start();
faults.start();

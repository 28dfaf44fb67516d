// The calls of the driver as they come, newest first.

import { batch, call, follow, Refused } from "./api.js";
import { byId, count, counted, h, say, setText } from "./dom.js";

const MOST_SHOWN = 200;
const MOST_KEPT = 1000;
const SAY_MILLISECONDS = 5000;

/** Shows calls. `onCall` is called with each that arrives or ends, `onLive` with the connection. */
export class Calls {
  constructor({ onCall, onLive, onProblem }) {
    this.onCall = onCall;
    this.onLive = onLive;
    this.onProblem = onProblem;
    this.calls = new Map(); // by sequence number
    this.rows = new Map();
    this.skipped = 0;
    this.clearedAt = 0;
    this.paused = false;
    this.planned = false;
    this.toSay = { ended: 0, failed: 0 };
    this.#listen();
  }

  start() {
    follow("Journal/WatchCalls", {}, {
      open: () => {
        this.onLive("live");
        this.#list();
      },
      answers: (calls, skipped) => this.#take(calls, skipped),
      lost: () => this.onLive("lost"),
    });
    setInterval(() => this.#tick(), 1000);
    setInterval(() => this.#sayCounts(), SAY_MILLISECONDS);
  }

  #listen() {
    for (const id of ["calls-rpc", "calls-code", "hide-probe"]) {
      byId(id).addEventListener("input", () => this.#plan());
    }
    byId("calls-form").addEventListener("submit", (event) => event.preventDefault());
    byId("pause").addEventListener("click", (event) => {
      this.paused = !this.paused;
      event.currentTarget.setAttribute("aria-pressed", String(this.paused));
      this.#plan();
    });
    byId("clear-calls").addEventListener("click", () => this.#clear());
  }

  /** Get the newest calls: those from before the stream, and what it has skipped. */
  async #list() {
    try {
      const [answer] = await batch([["Journal/ListCalls", { limit: 100 }]]);
      if (answer instanceof Refused) throw answer;
      for (const item of answer.calls) {
        const known = this.calls.get(Number(item.sequence));
        if (!known || known.code === "RUNNING") this.#put(item);
      }
      this.#plan();
    } catch (error) {
      this.onProblem(error);
    }
  }

  #take(calls, skipped) {
    this.skipped += skipped;
    for (const item of calls) {
      this.#put(item);
      this.onCall(item);
      if (item.code !== "RUNNING") {
        this.toSay.ended += 1;
        if (item.code !== "OK") this.toSay.failed += 1;
      }
    }
    this.#plan();
  }

  #put(item) {
    const sequence = Number(item.sequence);
    if (sequence <= this.clearedAt && item.code !== "RUNNING" && !this.calls.has(sequence)) return;
    item.sequence = sequence;
    const known = this.calls.get(sequence);
    item.arrived = known ? known.arrived : performance.now();
    this.calls.set(sequence, item);
    if (this.calls.size > 2 * MOST_KEPT) {
      const oldest = [...this.calls.keys()].sort((one, other) => one - other);
      for (const key of oldest.slice(0, this.calls.size - MOST_KEPT)) this.calls.delete(key);
    }
  }

  async #clear() {
    try {
      await call("Journal/ClearCalls");
    } catch (error) {
      this.onProblem(error);
      return;
    }
    this.forget();
    say(byId("said"), "The record of calls is cleared.");
  }

  /** Forget the calls that have ended, as the server has. */
  forget() {
    this.clearedAt = Math.max(0, ...this.calls.keys());
    for (const [sequence, item] of this.calls) {
      if (item.code !== "RUNNING") this.calls.delete(sequence);
    }
    this.skipped = 0;
    this.#plan();
  }

  #matches() {
    const rpc = byId("calls-rpc").value.trim().toLowerCase();
    const code = byId("calls-code").value;
    const hideProbe = byId("hide-probe").checked;
    return (item) =>
      (!rpc || item.rpc.toLowerCase().includes(rpc)) &&
      (!hideProbe || item.rpc !== "Probe") &&
      (!code ||
        (code === "errors" ? !["OK", "RUNNING"].includes(item.code) : item.code === code));
  }

  /** Draw in the next frame, however much has come until then. */
  #plan() {
    if (this.planned) return;
    this.planned = true;
    requestAnimationFrame(() => {
      this.planned = false;
      this.#draw();
    });
  }

  #draw() {
    const matching = [...this.calls.values()].filter(this.#matches());
    matching.sort((one, other) => other.sequence - one.sequence);
    this.#count(matching.length);
    if (this.paused) return;
    const shown = matching.slice(0, MOST_SHOWN);
    const keep = new Set(shown.map((item) => item.sequence));
    for (const [sequence, row] of this.rows) {
      if (!keep.has(sequence)) {
        row.element.remove();
        this.rows.delete(sequence);
      }
    }
    const list = byId("call-list");
    shown.forEach((item, place) => {
      let row = this.rows.get(item.sequence);
      if (!row) {
        row = new Row();
        this.rows.set(item.sequence, row);
      }
      row.show(item);
      if (list.children[place] !== row.element) {
        list.insertBefore(row.element, list.children[place] ?? null);
      }
    });
    const none = byId("no-calls");
    none.hidden = shown.length > 0;
    setText(none, this.calls.size ? "No call is like that." : "No call has come yet.");
  }

  #count(matching) {
    const running = [...this.calls.values()].filter((item) => item.code === "RUNNING").length;
    const all = counted(matching, "call", "calls");
    const parts = [matching > MOST_SHOWN ? `the newest ${MOST_SHOWN} of ${all}` : all];
    if (running) parts.push(`${count(running)} in flight`);
    if (this.skipped) parts.push(`${count(this.skipped)} too quick to show`);
    if (this.paused) parts.push("paused");
    setText(byId("calls-count"), parts.join(", "));
  }

  #tick() {
    for (const row of this.rows.values()) row.tick();
  }

  /** Tell those who do not see it, now and then and not each call. */
  #sayCounts() {
    const { ended, failed } = this.toSay;
    if (!ended || this.paused) return;
    const errors = failed ? `, ${counted(failed, "error", "errors")}` : "";
    say(byId("said"), `${counted(ended, "call has ended", "calls have ended")}${errors}.`);
    this.toSay = { ended: 0, failed: 0 };
  }
}

/** One call; opened, it shows request and response. */
class Row {
  constructor() {
    this.time = h("span", { class: "time" });
    this.rpc = h("span", { class: "rpc" });
    this.about = h("span", { class: "about" });
    this.code = h("span", { class: "code" });
    this.took = h("span", { class: "took" });
    this.body = h("div", { class: "call-body" });
    this.details = h(
      "details",
      { ontoggle: () => this.#fill() },
      h("summary", {}, this.time, this.rpc, this.code, this.took, this.about),
      this.body,
    );
    this.element = h("li", { class: "call" }, this.details);
    this.item = null;
  }

  show(item) {
    if (this.item === item) return;
    this.item = item;
    setText(this.time, timeOf(item.start));
    setText(this.rpc, item.rpc);
    setText(this.code, item.code === "RUNNING" ? "in flight" : item.code);
    this.code.dataset.kind =
      item.code === "OK" ? "ok" : item.code === "RUNNING" ? "running" : "error";
    setText(this.about, about(item));
    this.tick();
    if (this.details.open) this.#fill();
  }

  tick() {
    const { item } = this;
    if (item.code !== "RUNNING") setText(this.took, duration(item.duration_seconds));
    else setText(this.took, duration(Math.floor((performance.now() - item.arrived) / 1000)));
  }

  #fill() {
    if (!this.details.open) return;
    const { item } = this;
    const parts = [["Request", json(item.request)]];
    if (item.code === "OK") parts.push(["Response", json(item.response)]);
    if (item.message) parts.push(["Message", item.message]);
    if (item.cloud_calls.length) {
      parts.push(["Calls of the cloud", item.cloud_calls.map(cloudCall).join("\n")]);
    }
    const facts = [`call ${item.sequence}`, `from ${item.peer}`];
    if (Number(item.calls_in_flight)) facts.push(`beside ${item.calls_in_flight} others`);
    if (item.faults.length) facts.push(`faults: ${item.faults.join(", ")}`);
    this.body.replaceChildren(
      h("p", { class: "muted" }, facts.join(" · ")),
      ...parts.flatMap(([title, text]) => [h("h4", {}, title), h("pre", { tabindex: 0 }, text)]),
    );
  }
}

function about(item) {
  const { volume_id: volume, node_id: node, name } = item.request ?? {};
  const parts = [volume, name, node || item.node_id].filter(Boolean);
  if (item.faults.length) parts.push(`fault ${item.faults.join(", ")}`);
  return parts.join(" · ");
}

function cloudCall({ api, ids, duration_seconds: seconds, error }) {
  return `${api} ${ids.join(", ")} ${duration(seconds)}${error ? ` ${error}` : ""}`;
}

const json = (value) => JSON.stringify(value ?? {}, null, 2);

function timeOf(timestamp) {
  const time = new Date(timestamp);
  const two = (number) => String(number).padStart(2, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
    + `.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

/** Write a duration with about three digits: 0.35 ms, 12 ms, 2.1 s. */
export function duration(seconds) {
  if (seconds < 0.01) return `${(seconds * 1000).toFixed(2)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}

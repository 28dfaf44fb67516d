// The faults with their counters, and the barriers at which calls are held.

import { batch, call, isMissing, Refused } from "./api.js";
import { byId, count, counted, h, say, setText, throttled } from "./dom.js";

const POLL_MILLISECONDS = 2500;
const SOON_MILLISECONDS = 250;

const CODES = [
  "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
  "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
];

export class Faults {
  constructor({ onProblem }) {
    this.onProblem = onProblem;
    this.rows = new Map(); // by name
    this.seenBarriers = "";
    this.refreshSoon = throttled(() => this.refresh(), SOON_MILLISECONDS);
    byId("fault-code").append(...CODES.map((code) => h("option", {}, code)));
    byId("clear-faults").addEventListener("click", () => this.#do("Faults/ClearFaults", {}, "All faults are removed."));
    byId("fault-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#add(event.currentTarget);
    });
  }

  start() {
    this.refresh();
    setInterval(() => { if (!document.hidden) this.refresh(); }, POLL_MILLISECONDS);
  }

  /** Offer the RPCs that have been seen. */
  sawRpc(rpc) {
    const list = byId("rpcs");
    if (![...list.options].some((option) => option.value === rpc)) {
      list.append(h("option", { value: rpc }));
    }
  }

  async refresh() {
    try {
      const [faults, barriers] = await batch([["Faults/ListFaults"], ["Faults/ListBarriers"]]);
      if (faults instanceof Refused) throw faults;
      this.#show(faults.faults);
      this.#showBarriers(barriers instanceof Refused ? [] : barriers.barriers);
    } catch (error) {
      if (isMissing(error)) byId("faults").hidden = true;
      else this.onProblem(error);
    }
  }

  #show(faults) {
    setText(byId("faults-count"), faults.length ? counted(faults.length, "fault", "faults") : "");
    byId("no-faults").hidden = faults.length > 0;
    byId("clear-faults").hidden = faults.length === 0;
    const names = new Set(faults.map(({ name }) => name));
    for (const [name, row] of this.rows) {
      if (!names.has(name)) {
        row.element.remove();
        this.rows.delete(name);
      }
    }
    const list = byId("fault-list");
    faults.forEach((fault, place) => {
      let row = this.rows.get(fault.name);
      if (!row) {
        row = this.#row(fault.name);
        this.rows.set(fault.name, row);
      }
      row.show(fault);
      if (list.children[place] !== row.element) {
        list.insertBefore(row.element, list.children[place] ?? null);
      }
    });
  }

  #row(name) {
    return new Row(name, {
      onSwitch: (enabled) => this.#do(
        "Faults/EnableFault", { name, enabled }, `${name} is ${enabled ? "on" : "off"}.`),
      onDelete: () => this.#do("Faults/DeleteFault", { name }, `${name} is removed.`),
    });
  }

  #showBarriers(barriers) {
    const seen = JSON.stringify(barriers);
    if (seen === this.seenBarriers) return;
    this.seenBarriers = seen;
    byId("barriers").replaceChildren(...barriers.map(({ name, held }) => {
      const calls = Number(held);
      return h(
        "li", { class: "barrier", "data-held": String(calls > 0) },
        h("span", {}, "barrier ", h("b", {}, name), ` holds ${counted(calls, "call", "calls")}`),
        calls > 0 && h(
          "button",
          {
            type: "button",
            class: "small",
            "aria-label": `Release barrier ${name}`,
            onclick: () => this.#do(
              "Faults/ReleaseBarrier", { barrier: name }, `${name} is released.`),
          },
          "Release",
        ),
      );
    }));
  }

  async #add(form) {
    const fields = Object.fromEntries(
      [...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value));
    const problem = form.querySelector(".problem");
    setText(problem, "");
    try {
      const made = await call("Faults/CreateFault", { fault: fields });
      form.reset();
      form.elements.rpc.focus();
      say(byId("said"), `${made.name} is added.`);
    } catch (error) {
      say(problem, error.message);
    }
    this.refresh();
  }

  async #do(rpc, request, done) {
    try {
      await call(rpc, request);
      say(byId("said"), done);
    } catch (error) {
      this.onProblem(error);
    }
    await this.refresh();
  }
}

class Row {
  constructor(name, { onSwitch, onDelete }) {
    this.enabled = true;
    this.switch = h("button", {
      type: "button",
      role: "switch",
      class: "switch",
      "aria-label": `Fault ${name}`,
      onclick: () => onSwitch(!this.enabled),
    });
    this.what = h("p", { class: "what" });
    this.does = h("p", { class: "does" });
    this.counters = h("p", { class: "counters" });
    this.element = h(
      "li", { class: "fault" },
      this.switch,
      h("div", { class: "fault-text" }, h("h3", {}, name), this.what, this.does),
      this.counters,
      h("button", {
        type: "button", class: "small", "aria-label": `Remove fault ${name}`, onclick: onDelete,
      }, "Remove"),
    );
  }

  show(fault) {
    this.enabled = fault.enabled !== false;
    this.switch.setAttribute("aria-checked", String(this.enabled));
    this.element.dataset.enabled = String(this.enabled);
    setText(this.what, matchesWhat(fault));
    setText(this.does, doesWhat(fault));
    const acted = Number(fault.acted);
    const times = Number(fault.times);
    const left = times ? ` of ${count(times)}` : "";
    setText(this.counters, `acted ${count(acted)}${left}, matched ${count(Number(fault.matched))}`);
    this.element.dataset.spent = String(times > 0 && acted >= times);
  }
}

function matchesWhat(fault) {
  const parts = [fault.rpc || `cloud API ${fault.cloud_api}`];
  if (fault.node_id) parts.push(`on ${fault.node_id}`);
  for (const [path, value] of Object.entries(fault.request)) parts.push(`with ${path} ${value}`);
  if (fault.calls) parts.push(`calls ${fault.calls}`);
  if (fault.probability) parts.push(`with probability ${fault.probability}`);
  return parts.join(", ");
}

function doesWhat(fault) {
  const parts = [];
  if (fault.delay) parts.push(`waits ${fault.delay}`);
  if (fault.hold) parts.push(`holds at barrier ${fault.hold}`);
  if (fault.when === "after") parts.push("does the work");
  if (fault.no_answer) parts.push("never answers");
  if (fault.code) parts.push(`answers ${fault.code}`);
  if (fault.error) parts.push(`is refused with ${fault.error}`);
  const replies = Object.entries(fault.reply).map(([path, value]) => `${path} = ${value}`);
  if (replies.length) parts.push(`replies ${replies.join(", ")}`);
  if (fault.exit != null) parts.push(`ends the process with ${fault.exit}`);
  if (fault.lifetime) parts.push(`for ${fault.lifetime}`);
  return parts.join(", then ");
}

// One instance in full, and what an operator can do to it.

import { batch, call, Refused } from "./api.js";
import { byId, count, h, say, setText } from "./dom.js";
import { draw, keyOf, nameOf, usersOf } from "./slots.js";

/** The dialog of an instance. `onChange` is called after something was done. */
export class InstanceDialog {
  constructor({ onChange }) {
    this.onChange = onChange;
    this.dialog = byId("instance");
    this.id = null;
    this.seen = "";
    this.keys = null;
    byId("instance-close").addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("close", () => { this.id = null; });
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close(); // beside it
    });
    byId("attach-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#attach(event.currentTarget);
    });
    byId("add-interface").addEventListener("click", () => this.#do(
      "Cloud/AddNetworkInterface", { instance: this.id }, "Interface added."));
    byId("remove-interface").addEventListener("click", () => this.#do(
      "Cloud/RemoveNetworkInterface", { instance: this.id }, "Interface removed."));
  }

  async open(id) {
    this.id = id;
    this.seen = "";
    this.keys = null;
    setText(byId("instance-title"), id);
    for (const element of ["instance-facts", "instance-said", "instance-problem"]) {
      setText(byId(element), "");
    }
    for (const element of ["instance-slots", "node-info", "users"]) byId(element).replaceChildren();
    byId("attach-form").reset();
    this.dialog.showModal();
    await this.refresh();
  }

  get isOpen() {
    return this.id !== null;
  }

  async refresh() {
    const { id } = this;
    if (id === null) return;
    let answers;
    try {
      answers = await batch([
        ["Cloud/GetInstance", { id }], ["Cloud/GetNodeInfo", { node_id: id }],
      ]);
    } catch (error) {
      answers = [error];
    }
    if (this.id !== id) return; // closed, or another one, meanwhile
    const [instance, info] = answers;
    if (instance instanceof Error) {
      setText(byId("instance-problem"), instance.message); // told once, however often it is asked
      return;
    }
    const seen = JSON.stringify(answers);
    if (seen === this.seen) return;
    this.seen = seen;
    this.#show(instance, info);
  }

  #show(instance, info) {
    const facts = [instance.type || "no type", instance.zone].filter(Boolean).join(" · ");
    setText(byId("instance-facts"), facts);
    byId("instance-slots").replaceChildren(draw(instance, this.keys));
    const users = usersOf(instance);
    this.keys = new Set(users.map(keyOf));
    this.#showInfo(info);
    // The button that has the focus is replaced: it goes to what stands in its place.
    const table = byId("users");
    const held = [...table.querySelectorAll("button")].indexOf(document.activeElement);
    table.replaceChildren(...(users.length ? users.map((user) => this.#row(user)) : [nothing()]));
    if (held >= 0) {
      const buttons = [...table.querySelectorAll("button")];
      (buttons[Math.min(held, buttons.length - 1)] ?? byId("instance-close")).focus();
    }
    byId("remove-interface").setAttribute(
      "aria-disabled", String(instance.network_interfaces.length === 0));
  }

  #showInfo(info) {
    if (info instanceof Refused) {
      byId("node-info").replaceChildren(h("dt", {}, info.code), h("dd", {}, info.message));
      return;
    }
    const max = Number(info.max_volumes_per_node);
    const ids = info.published_volume_ids;
    const topology = Object.entries(info.accessible_topology);
    byId("node-info").replaceChildren(
      h("dt", {}, "max_volumes_per_node"),
      h("dd", {}, max === 0 ? "0, unspecified" : count(max)),
      h("dt", {}, `published_volume_ids (${count(ids.length)})`),
      h("dd", {}, ids.length ? h("ul", { class: "ids" }, ...ids.map((id) => h("li", {}, id))) : "none"),
      h("dt", {}, "accessible_topology"),
      h("dd", {}, topology.length
        ? h("ul", { class: "ids" }, ...topology.map(([key, value]) => h("li", {}, `${key}: ${value}`)))
        : "none"),
    );
  }

  #row(user) {
    const state = user.waitsFor ? `${user.state}, waits for ${user.waitsFor}` : user.state || "–";
    return h(
      "tr", {},
      h("td", {}, h("span", { class: `dot ${user.kind}`, "aria-hidden": "true" }), nameOf(user)),
      h("td", { class: "id" }, user.id),
      h("td", {}, state),
      h("td", {}, user.usesSlot ? "uses one" : "uses none"),
      h("td", { class: "buttons" }, ...this.#buttons(user)),
    );
  }

  #buttons(user) {
    if (user.kind === "interface") {
      return [this.#button("Remove", user, "Cloud/RemoveNetworkInterface",
        { instance: this.id, id: user.id }, "removed")];
    }
    const request = { instance: this.id, disk: user.id };
    const buttons = [];
    if (user.waitsFor === "held") {
      buttons.push(this.#button("Release", user, "Cloud/Release", request, "released"));
    }
    if (user.kind !== "boot" && user.state !== "detaching") {
      buttons.push(this.#button("Detach", user, "Cloud/Detach", request, "detached"));
    }
    return buttons;
  }

  #button(label, user, rpc, request, done) {
    return h(
      "button",
      {
        type: "button",
        class: "small",
        "aria-label": `${label} ${user.id}`,
        onclick: () => this.#do(rpc, request, `${user.id}: ${done}.`),
      },
      label,
    );
  }

  async #attach(form) {
    const fields = new FormData(form);
    const disk = fields.get("disk").trim();
    const done = await this.#do(
      "Cloud/Attach",
      {
        instance: this.id,
        disk,
        published: fields.has("published"),
        immediately: fields.has("immediately"),
        force: fields.has("force"),
      },
      `${disk}: attached.`,
    );
    if (done) {
      form.elements.disk.value = "";
      form.elements.disk.focus();
    }
  }

  async #do(rpc, request, done) {
    setText(byId("instance-problem"), "");
    setText(byId("instance-said"), "");
    try {
      await call(rpc, request);
    } catch (error) {
      say(byId("instance-problem"), error.message);
      return false;
    }
    say(byId("instance-said"), done);
    this.onChange();
    await this.refresh();
    return true;
  }
}

function nothing() {
  return h("tr", {}, h("td", { colspan: 5, class: "muted" }, "Nothing is on this instance."));
}

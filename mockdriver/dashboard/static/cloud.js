// The instances: search, pages, and a card for each with its slots.

import { batch, isMissing, Refused } from "./api.js";
import { byId, count, counted, debounced, h, setText, throttled } from "./dom.js";
import { draw, keyOf, slotsOf, usersOf } from "./slots.js";

const POLL_MILLISECONDS = 2500;
const SOON_MILLISECONDS = 250;

/** Shows the cloud. `onOpen` is called with the id of an instance that somebody wants to see. */
export class Cloud {
  constructor({ onOpen, onProblem, onSummary }) {
    this.onOpen = onOpen;
    this.onProblem = onProblem;
    this.onSummary = onSummary;
    this.cards = new Map(); // by instance id
    this.listeners = new Set();
    this.tokens = [""]; // of the pages before this one, and of this one
    this.nextToken = "";
    this.refreshing = null;
    this.again = false;
    this.refreshSoon = throttled(() => this.refresh(), SOON_MILLISECONDS);
    this.#listen();
  }

  start() {
    this.refresh();
    setInterval(() => { if (!document.hidden) this.refresh(); }, POLL_MILLISECONDS);
    document.addEventListener("visibilitychange", () => this.refresh());
  }

  /** Have `listener` called after each refresh. */
  onRefresh(listener) {
    this.listeners.add(listener);
  }

  /** Light the card of an instance up for a moment. */
  flash(id) {
    const card = this.cards.get(id);
    if (!card) return;
    card.element.classList.remove("flash");
    void card.element.offsetWidth; // begins the animation anew
    card.element.classList.add("flash");
  }

  /** Look at the server again; one look at a time. */
  async refresh() {
    if (this.refreshing) {
      this.again = true;
      return this.refreshing;
    }
    this.refreshing = this.#refresh();
    try {
      await this.refreshing;
    } catch (error) {
      this.onProblem(error);
    } finally {
      this.refreshing = null;
    }
    if (this.again) {
      this.again = false;
      this.refreshSoon();
    }
    return undefined;
  }

  #listen() {
    const anew = () => {
      this.tokens = [""];
      this.refresh();
    };
    byId("search").addEventListener("input", debounced(anew, 200));
    for (const id of ["type", "zone", "page-size"]) byId(id).addEventListener("change", anew);
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      anew();
    });
    this.#button("first", () => { this.tokens = [""]; });
    this.#button("previous", () => { this.tokens.pop(); });
    this.#button("next", () => { this.tokens.push(this.nextToken); });
  }

  #button(id, go) {
    byId(id).addEventListener("click", (event) => {
      // Not `disabled`: a button that loses it would lose the focus too.
      if (event.currentTarget.getAttribute("aria-disabled") === "true") return;
      go();
      this.refresh();
    });
  }

  #wanted() {
    const text = byId("search").value.trim();
    const id = text && !/[*?]/.test(text) ? `*${text}*` : text;
    return {
      id,
      type: byId("type").value,
      zone: byId("zone").value,
      page_size: Number(byId("page-size").value),
      page_token: this.tokens.at(-1),
    };
  }

  async #refresh() {
    const wanted = this.#wanted();
    const [server, summary, types, page] = await batch([
      ["State/GetServer"],
      ["Cloud/GetCloud"],
      ["Cloud/ListInstanceTypes"],
      ["Cloud/ListInstances", wanted],
    ]);
    if (page instanceof Refused) {
      // Such as a page of a cloud that has been replaced meanwhile.
      if (this.tokens.length > 1) {
        this.tokens = [""];
        this.again = true;
        return;
      }
      throw page;
    }
    if (!(summary instanceof Refused)) {
      this.onSummary(server instanceof Refused ? {} : server, summary);
      options(byId("zone"), summary.zones);
    }
    if (!(types instanceof Refused)) {
      options(byId("type"), types.instance_types.map((type) => type.name));
    }
    const infos = await batch(
      page.instances.map(({ id }) => ["Cloud/GetNodeInfo", { node_id: id }]));
    this.#show(page, infos);
    for (const listener of this.listeners) listener(page.instances);
  }

  #show(page, infos) {
    this.nextToken = page.next_page_token;
    const total = Number(page.total);
    const first = this.#before(page) + 1;
    const last = first + page.instances.length - 1;
    setText(
      byId("range"),
      page.instances.length
        ? `${count(first)} to ${count(last)} of ${counted(total, "instance", "instances")}`
        : counted(total, "instance", "instances"),
    );
    this.starts.set(this.tokens.at(-1), first - 1);
    this.starts.set(this.nextToken, last);
    enable(byId("first"), this.tokens.length > 1);
    enable(byId("previous"), this.tokens.length > 1);
    enable(byId("next"), page.next_page_token !== "");
    this.#showCards(page.instances, infos);
    const none = byId("no-instances");
    none.hidden = page.instances.length > 0;
    const { id, type, zone } = this.#wanted();
    setText(none, id || type || zone ? "No instance is like that." : "The cloud has no instances.");
  }

  starts = new Map(); // how many instances come before a page, by its token

  #before() {
    return this.tokens.length === 1 ? 0 : this.starts.get(this.tokens.at(-1)) ?? 0;
  }

  #showCards(instances, infos) {
    const list = byId("instances");
    const shown = new Set(instances.map(({ id }) => id));
    for (const [id, card] of this.cards) {
      if (!shown.has(id)) {
        card.element.remove();
        this.cards.delete(id);
      }
    }
    instances.forEach((instance, place) => {
      let card = this.cards.get(instance.id);
      if (!card) {
        card = new Card(instance.id, () => this.onOpen(instance.id));
        this.cards.set(instance.id, card);
      }
      card.show(instance, infos[place]);
      // Moved only if it is elsewhere: moving takes the focus away.
      if (list.children[place] !== card.element) {
        list.insertBefore(card.element, list.children[place] ?? null);
      }
    });
  }
}

/** One instance. Its elements stay, so that focus and animations do. */
class Card {
  constructor(id, onOpen) {
    this.button = h("button", { type: "button", class: "open", onclick: onOpen }, id);
    this.place = h("p", { class: "muted place" });
    this.used = h("p", { class: "used" });
    this.slots = h("div");
    this.beside = h("p", { class: "muted beside" });
    this.info = h("p", { class: "info" });
    this.element = h(
      "li", { class: "card" },
      h("div", { class: "card-head" }, h("h3", {}, this.button), this.used),
      this.place, this.slots, this.beside, this.info,
    );
    this.seen = "";
    this.keys = null;
  }

  show(instance, info) {
    const seen = JSON.stringify([instance, info instanceof Refused ? info.message : info]);
    if (seen === this.seen) return;
    this.seen = seen;
    const slots = slotsOf(instance);
    const users = Number(instance.slot_users);
    const full = slots != null && users >= slots;
    setText(this.place, [instance.type || "no type", instance.zone].filter(Boolean).join(" · "));
    setText(this.used, slots == null ? `${count(users)} used` : `${count(users)} / ${count(slots)}`);
    this.used.dataset.level = full ? (users > slots ? "over" : "full") : "room";
    this.used.title = full ? (users > slots ? "more users than slots" : "full") : "slots in use";
    const drawn = draw(instance, this.keys);
    this.slots.replaceChildren(drawn);
    this.keys = new Set(usersOf(instance).map(keyOf));
    setText(this.beside, beside(instance));
    this.#showInfo(info);
  }

  #showInfo(info) {
    if (info instanceof Refused) {
      setText(this.info, isMissing(info) ? "" : info.message);
      return;
    }
    const max = Number(info.max_volumes_per_node);
    this.info.replaceChildren(
      h("span", {}, "Node info:"),
      h("span", {}, "max ", h("b", {}, max === 0 ? "unspecified" : count(max))),
      h("span", {}, h("b", {}, count(info.published_volume_ids.length)), " ids"),
    );
    this.info.title = "What ControllerGetNodeInfo would answer now: max_volumes_per_node, and how "
      + "many published_volume_ids";
  }
}

/** Say what is on an instance without using a slot. */
function beside(instance) {
  const users = usersOf(instance).filter((user) => !user.usesSlot);
  const interfaces = users.filter((user) => user.kind === "interface").length;
  const parts = users.filter((user) => user.kind !== "interface").map((user) => user.id);
  if (interfaces) parts.push(counted(interfaces, "interface", "interfaces"));
  return parts.length ? `beside the slots: ${parts.join(", ")}` : "";
}

function enable(button, enabled) {
  button.setAttribute("aria-disabled", String(!enabled));
}

/** Give a select these options besides "all", and leave it alone if it has them. */
function options(select, values) {
  const present = [...select.options].slice(1).map((option) => option.value);
  if (present.join("\n") === values.join("\n")) return;
  const chosen = select.value;
  select.replaceChildren(
    h("option", { value: "" }, "all"), ...values.map((value) => h("option", { value }, value)));
  select.value = values.includes(chosen) ? chosen : "";
}


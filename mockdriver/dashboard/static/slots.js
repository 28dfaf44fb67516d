// How the slots of an instance are drawn: one cell each, or a bar where there are too many.

import { count, counted, h } from "./dom.js";

const MOST_CELLS = 64;

const KINDS = {
  boot: { letter: "B", one: "boot disk", many: "boot disks" },
  interface: { letter: "N", one: "network interface", many: "network interfaces" },
  csi: { letter: "C", one: "CSI volume", many: "CSI volumes" },
  "out-of-band": { letter: "O", one: "out of band", many: "out of band" },
};

/** Return what is on an instance, in the order in which it takes slots. */
export function usersOf(instance) {
  const disks = instance.attachments.map((attachment) => ({
    kind: attachment.boot ? "boot" : attachment.out_of_band ? "out-of-band" : "csi",
    id: attachment.disk,
    state: attachment.state,
    waitsFor: attachment.waits_for,
    usesSlot: attachment.uses_slot,
    number: Number(attachment.number),
  }));
  const boot = disks.filter((user) => user.kind === "boot");
  const others = disks.filter((user) => user.kind !== "boot");
  // The server counts; interfaces share the slots if its count is higher than that of the disks.
  const diskUsers = disks.filter((user) => user.usesSlot).length;
  const shared = Number(instance.slot_users) > diskUsers;
  const interfaces = instance.network_interfaces.map((id) => ({
    kind: "interface", id, state: "", waitsFor: "", usesSlot: shared,
  }));
  return [...boot, ...interfaces, ...others];
}

export const slotsOf = (instance) => (instance.slots == null ? null : Number(instance.slots));
export const nameOf = (user) => KINDS[user.kind].one;

/** Say in words what uses the slots: "25 slots: 1 boot disk, 2 network interfaces, 14 free". */
export function summary(instance) {
  const users = usersOf(instance).filter((user) => user.usesSlot);
  const slots = slotsOf(instance);
  const parts = Object.entries(KINDS).flatMap(([kind, { one, many }]) => {
    const number = users.filter((user) => user.kind === kind).length;
    return number ? [counted(number, one, many)] : [];
  });
  if (slots != null) {
    const free = slots - users.length;
    parts.push(free < 0 ? `${count(-free)} more than fit` : `${count(free)} free`);
  }
  const moving = users.filter((user) => ["attaching", "detaching", "busy"].includes(user.state));
  if (moving.length) parts.push(`${count(moving.length)} in transition`);
  const all = slots == null ? "No limit of slots" : counted(slots, "slot", "slots");
  return `${all}: ${parts.join(", ") || "nothing uses one"}`;
}

function titleOf(user) {
  const parts = [nameOf(user), user.state, user.waitsFor && `waits for ${user.waitsFor}`];
  return `${user.id}: ${parts.filter(Boolean).join(", ")}`;
}

function cell(user, over, isNew) {
  const names = ["slot", user.kind, user.state, over && "over", isNew && "new"];
  return h(
    "span",
    { class: names.filter(Boolean).join(" "), title: titleOf(user) },
    KINDS[user.kind].letter,
  );
}

/** Draw the slots; what is not in `before`, a set of keys, is shown as new. */
export function draw(instance, before) {
  const users = usersOf(instance).filter((user) => user.usesSlot);
  const slots = slotsOf(instance);
  const label = summary(instance);
  if (Math.max(slots ?? 0, users.length) > MOST_CELLS) return bar(users, slots, label);
  const cells = users.map((user, place) =>
    cell(user, slots != null && place >= slots, before != null && !before.has(keyOf(user))));
  const free = slots == null ? 0 : Math.max(0, slots - users.length);
  for (let n = 0; n < free; n += 1) cells.push(h("span", { class: "slot free", title: "free" }));
  if (slots == null) cells.push(h("span", { class: "no-limit" }, "no limit"));
  return h("div", { class: "slots", role: "img", "aria-label": label }, ...cells);
}

export const keyOf = (user) => `${user.kind} ${user.id} ${user.number ?? ""}`;

function bar(users, slots, label) {
  const whole = Math.max(slots ?? 0, users.length);
  const parts = Object.keys(KINDS).flatMap((kind) => {
    const number = users.filter((user) => user.kind === kind).length;
    if (!number) return [];
    const part = h("span", { class: `part ${kind}`, title: counted(number, KINDS[kind].one, KINDS[kind].many) });
    part.style.width = `${(100 * number) / whole}%`;
    return [part];
  });
  const track = h("div", { class: "bar", role: "img", "aria-label": label }, ...parts);
  if (slots != null && users.length > slots) {
    const limit = h("span", { class: "limit", title: "the last slot" });
    limit.style.insetInlineStart = `${(100 * slots) / whole}%`;
    track.append(limit);
  }
  return h("div", { class: "many" }, track, h("p", { class: "muted", "aria-hidden": "true" }, label));
}

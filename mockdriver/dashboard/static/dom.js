// Making and finding elements. Text is always set as text, never as HTML.

export const byId = (id) => document.getElementById(id);

/** Make an element: `h("li", {class: "x", onclick: f}, "text", child)`. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

/** Set an element's text; does nothing if it has it already, so that nobody is told twice. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Put text into a live region so that it is read again even if it is the same. */
export function say(element, text) {
  element.textContent = "";
  requestAnimationFrame(() => { element.textContent = text; });
}

/** Call `work` once, `milliseconds` after the last of many calls. */
export function debounced(work, milliseconds) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), milliseconds);
  };
}

/** Call `work` at most once in `milliseconds`, and once more after the last of many calls. */
export function throttled(work, milliseconds) {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    setTimeout(() => {
      planned = false;
      work();
    }, milliseconds);
  };
}

const plain = new Intl.NumberFormat("en");
export const count = (number) => plain.format(number);
export const counted = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

// Small tools. No string ever becomes HTML here: fragments are parsed by the browser as documents, without their scripts.

/** The document at an address. */
export function load(address, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.setRequestHeader("Accept", "text/html");
    request.onload = () => (request.response ? resolve({ page: request.response, url: request.responseURL, status: request.status }) : reject(new Error("no document")));
    request.onerror = () => reject(new Error("offline"));
    request.onabort = () => reject(new DOMException("aborted", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    request.send();
  });
}

/** An element. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Says something to everybody, also to those who listen. */
export function say(words) {
  const toast = make("div", { class: "toast" }, make("p", {}, words));
  document.getElementById("toasts").append(toast);
  setTimeout(() => toast.remove(), 5000);
}

/** Makes a list what another one is: children of the same id and version stay, with focus, folds and selection. */
export function become(old, next) {
  const known = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  const made = [...next.children].map((child) => {
    const same = child.id && known.get(child.id);
    return same && same.dataset.v && same.dataset.v === child.dataset.v ? same : document.adoptNode(child);
  });
  old.replaceChildren(...made);
}

/** Loads this screen again, and shows what is new in its lists. What is being written in a form stays. */
export async function refresh() {
  const { page, status } = await load(location.href);
  if (status >= 400) return;
  for (const id of ["messages", "list", "live"]) {
    const next = page.getElementById(id), old = document.getElementById(id);
    if (next && old && !old.querySelector("input:checked")) become(old, next);
  }
  const form = document.getElementById("compose"), fresh = page.getElementById("compose");
  if (!form || !fresh) return;
  form.querySelector("label").textContent = fresh.querySelector("label").textContent;
  for (const name of ["at", "key"]) if (form.elements[name] && fresh.elements[name]) form.elements[name].value = fresh.elements[name].value;
}

export const isTyping = (target) => target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]") !== null;

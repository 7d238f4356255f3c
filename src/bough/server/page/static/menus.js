// Panels of actions in a dialog instead of on a page of their own, and copying.
import { load, make, say } from "./dom.js";

let dialog = null;
export function show(...content) {
  dialog?.remove();
  const close = make("button", { class: "close", type: "button", "aria-label": "Close" }, "Close");
  const own = make("dialog", {}, ...content, close), title = own.querySelector("h1");
  if (title) own.setAttribute("aria-label", title.textContent);
  close.onclick = () => own.close();
  own.onclose = () => own.remove();
  document.body.append(own);
  own.showModal();
  dialog = own;
  return own;
}

export async function panel(address) {
  const { page } = await load(address);
  const found = page.getElementById("panel");
  if (found) show(document.adoptNode(found));
  else location.href = address;
}

export async function copy(words, what) {
  await navigator.clipboard.writeText(words);
  say(`${what} copied`);
}

addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest("a[data-dialog]");
  if (link) {
    event.preventDefault();
    panel(link.href).catch(() => { location.href = link.href; });
  }
  const own = event.target.closest("a[data-copy-link]");
  if (own && navigator.clipboard) {
    event.preventDefault();
    copy(own.href, "Link");
  }
  if (event.target === dialog) dialog.close();
});
addEventListener("submit", (event) => {
  // A second click would do it twice.
  for (const button of event.target.querySelectorAll("button")) setTimeout(() => { button.disabled = true; });
});
addEventListener("pageshow", () => { for (const button of document.querySelectorAll("button:disabled")) button.disabled = false; });

// Reading and writing in a conversation: earlier messages, subagents in place, code to copy, drafts.
import { load, make } from "./dom.js";
import { copy } from "./menus.js";

async function earlier(link) {
  const messages = document.getElementById("messages");
  const paragraph = link.parentElement, first = paragraph.nextElementSibling;
  paragraph.setAttribute("aria-busy", "true");
  const { page } = await load(link.href);
  const top = first?.getBoundingClientRect().top;
  const found = [...(page.getElementById("messages")?.children ?? [])];
  const known = new Set([...messages.children].map((child) => child.id).filter(Boolean));
  const fresh = found.filter((child) => !known.has(child.id) && !child.matches(".later"));
  paragraph.replaceWith(...fresh.map((child) => document.adoptNode(child)));
  if (first) scrollBy(0, first.getBoundingClientRect().top - top);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-earlier]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  earlier(link).catch(() => { location.href = link.href; });
});
document.addEventListener("toggle", async (event) => {
  const details = event.target;
  if (!details.matches?.("details[data-src]") || !details.open || details.dataset.loaded) return;
  details.dataset.loaded = "1";
  const { page } = await load(details.dataset.src);
  const inner = page.getElementById("messages");
  if (!inner) return;
  inner.removeAttribute("id");
  details.append(document.adoptNode(inner));
}, true);
document.addEventListener("pointerover", (event) => offer(event.target.closest?.("pre.code")));
document.addEventListener("focusin", (event) => offer(event.target.closest?.("pre.code")));

function offer(block) {
  if (!block || block.parentElement.matches(".code-box") || !navigator.clipboard) return;
  const button = make("button", { class: "copy", type: "button" }, "Copy");
  button.onclick = () => copy(block.textContent, "Code");
  const box = make("div", { class: "code-box" });
  block.replaceWith(box);
  box.append(block, button);
}

const form = () => document.getElementById("compose");
const draft = () => `draft ${form().dataset.draft}`;
document.addEventListener("input", (event) => {
  if (event.target.id === "words") event.target.value ? localStorage.setItem(draft(), event.target.value) : localStorage.removeItem(draft());
});
document.addEventListener("keydown", (event) => {
  if (event.target.id === "words" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) form().requestSubmit();
});
document.addEventListener("submit", (event) => { if (event.target.id === "compose") localStorage.removeItem(draft()); });
if (form()) {
  const words = form().elements.words;
  words.value ||= localStorage.getItem(draft()) ?? "";
  if (location.hash === "#compose" || new URLSearchParams(location.search).has("edit")) words.focus();
}
const mark = document.querySelector("#messages mark");
if (mark && new URLSearchParams(location.search).has("q")) document.querySelector("article[aria-current]")?.focus({ preventScroll: true });

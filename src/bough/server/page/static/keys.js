// The keyboard. `?` lists the keys; they are off while something is typed, and can be switched off in the settings.
import { isTyping, load, make, say } from "./dom.js";
import { copy, panel, show } from "./menus.js";

const current = () => document.querySelector("article[data-id]:focus, article[data-id]:focus-within") ?? null;
const articles = () => [...document.querySelectorAll("#messages > article[data-id]")];
const rows = () => [...document.querySelectorAll(".row > a, .hit > a, .node, section.pair.differs")];
const go = (address) => { location.href = address; };
const id = () => current()?.dataset.id ?? null;

function step(by, wanted = () => true) {
  const all = articles().length ? articles().filter(wanted) : rows();
  if (!all.length) return;
  const at = document.activeElement?.closest("article[data-id], .row > a, .hit > a, .node, section.pair");
  let place = all.indexOf(at);
  if (place < 0) place = all.findIndex((one) => one.getBoundingClientRect().top >= 0) - (by > 0 ? 1 : 0);
  const next = all[Math.max(0, Math.min(all.length - 1, place + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}
function hit(by) {
  const all = [...document.querySelectorAll("#messages mark")];
  if (!all.length) return step(by);
  const at = (all.findIndex((one) => one.dataset.at) + by + all.length) % all.length;
  for (const one of all) delete one.dataset.at;
  all[at].dataset.at = "1";
  all[at].scrollIntoView({ block: "center" });
}
const sibling = (by) => (current() ?? document).querySelector(`[data-sibling="${by}"]`)?.click();
const message = (then) => () => { const found = id(); found ? then(found) : say("Choose a message first, with j and k"); };
const post = (verb, fields) => {
  const form = make("form", { method: "post", action: `/do/${verb}` });
  for (const [name, value] of Object.entries(fields)) form.append(make("input", { type: "hidden", name, value }));
  document.body.append(form);
  form.requestSubmit();
};
function compare(found) {
  const marked = sessionStorage.getItem("compare");
  if (marked && marked !== found) go(`/diff/${marked}...${found}`);
  else say("Mark another message with c first, or choose another one");
}

const KEYS = [
  ["/", "Search", () => go("/search")],
  ["j", "Next message or row", () => step(1)], ["k", "Previous", () => step(-1)],
  ["J", "Next prompt", () => step(1, (one) => one.matches(".user"))], ["K", "Previous prompt", () => step(-1, (one) => one.matches(".user"))],
  ["h", "Previous branch", () => sibling(-1)], ["l", "Next branch", () => sibling(1)],
  ["n", "Next hit or difference", () => hit(1)], ["N", "Previous hit", () => hit(-1)],
  ["e", "Edit and ask again", message((found) => go(`/m/${found}?edit=${found}#compose`))],
  ["r", "Answer again", message((found) => post("again", { id: found }))],
  ["R", "Answer again with chosen models", message((found) => panel(`/m/${found}/actions`))],
  ["f", "New conversation from here", message((found) => post("fork", { id: found }))],
  ["c", "Mark for comparing", message((found) => { sessionStorage.setItem("compare", found); say(`${found} is marked; C on another message compares`); })],
  ["C", "Compare with the marked one", message(compare)],
  ["y", "Copy the link", message((found) => copy(`${location.origin}/m/${found}`, "Link"))],
  ["Y", "Copy the text", message(() => copy(current().querySelector(".body").innerText, "Text"))],
  ["b", "Label", message((found) => panel(`/m/${found}/actions`))], [".", "Actions of the message", message((found) => panel(`/m/${found}/actions`))],
  ["#", "Move to the trash", message((found) => post("trash", { id: found }))], ["u", "Undo", () => post("undo", {})],
  ["t", "Tree", () => document.querySelector('a.chip[href^="/t/"]')?.click()],
  ["m", "Prompts and answers only", () => [...document.querySelectorAll('nav[aria-label="View"] a')].find((one) => !one.hasAttribute("aria-current"))?.click()],
  ["s", "Swap the sides", () => document.getElementById("swap")?.click()],
  ["i", "Write", () => document.getElementById("words")?.focus()],
  ["?", "These keys", help],
];
const GO = { l: "/", t: null, s: "/stats", x: "/trash", i: "/import", v: "/live" };
let waiting = false;

function help() {
  const list = make("ul", { class: "keys" });
  const add = (key, words) => list.append(make("li", {}, make("kbd", {}, key), words));
  for (const [key, words] of KEYS) add(key, words);
  add("g l", "List"); add("g s", "Stats"); add("g x", "Trash"); add("g v", "Live"); add("g i", "Import");
  add("Ctrl+K", "Go anywhere"); add("Ctrl+Enter", "Send"); add("Esc", "Close");
  show(make("h1", {}, "Keys"), list);
}

async function palette() {
  const input = make("input", { type: "search", "aria-label": "Go to a conversation", placeholder: "Go to a conversation, or search" });
  const list = make("ul");
  const dialog = show(make("div", { class: "palette" }, input, list));
  dialog.setAttribute("aria-label", "Go anywhere");
  const sessions = await (await fetch("/index.json")).json();
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = sessions.sessions.filter((one) => words.every((word) => `${one.title} ${one.key} ${one.directory}`.toLowerCase().includes(word))).slice(0, 9);
    list.replaceChildren(
      ...found.map((one) => make("li", {}, make("a", { href: `/c/${encodeURIComponent(one.key)}` }, one.title || one.key, " ", make("small", {}, one.channel ?? "")))),
      ...(input.value ? [make("li", {}, make("a", { href: `/search?q=${encodeURIComponent(input.value)}` }, `Search for “${input.value}”`))] : []));
  };
  input.oninput = draw;
  draw();
  dialog.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") { links[Math.min(at + 1, links.length - 1)]?.focus(); event.preventDefault(); }
    if (event.key === "ArrowUp") { (links[at - 1] ?? input).focus(); event.preventDefault(); }
    if (event.key === "Enter" && at < 0) links[0]?.click();
  });
}

if (document.documentElement.dataset.keys !== "off") addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); palette(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (waiting) {
    waiting = false;
    if (GO[event.key]) { event.preventDefault(); go(GO[event.key]); }
    return;
  }
  if (event.key === "g") { waiting = true; setTimeout(() => { waiting = false; }, 1500); return; }
  const box = event.key === "/" && document.querySelector("input[type=search]");
  if (box && box.offsetParent) { event.preventDefault(); box.focus(); box.select(); return; }
  const found = KEYS.find(([key]) => key === event.key);
  if (found) { event.preventDefault(); found[2](); }
});

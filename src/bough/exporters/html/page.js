"use strict";
// Shows one dialog at a time: the path to a message, and the newest branch below it.
const articles = new Map();
const children = new Map();
for (const article of document.querySelectorAll("article")) {
  articles.set(article.dataset.id, article);
  const parent = article.dataset.parent || "";
  if (!children.has(parent)) children.set(parent, []);
  children.get(parent).push(article.dataset.id);
}

// The button needs this script, so it is hidden without it.
const continuation = document.querySelector(".continuation");
if (continuation) continuation.hidden = false;

function pathThrough(id) {
  const path = [];
  for (let at = id; at && articles.has(at); at = articles.get(at).dataset.parent) path.unshift(at);
  for (let next = children.get(id); next; next = children.get(path.at(-1))) path.push(next.at(-1));
  return path;
}

function show(id, whole) {
  const path = whole ? whole : pathThrough(id);
  const shown = new Set(path);
  for (const [name, article] of articles) article.hidden = !shown.has(name);
  for (const button of document.querySelectorAll(".branches button"))
    button.setAttribute("aria-current", String(button.dataset.to === path.at(-1)));
  if (continuation) continuation.hidden = path.at(-1) !== continuation.dataset.from;
}

function move(article, by) {
  const beside = children.get(article.dataset.parent || "");
  const target = beside[beside.indexOf(article.dataset.id) + by];
  if (!target) return;
  const top = article.getBoundingClientRect().top;
  show(target);
  const now = articles.get(target);
  scrollBy(0, now.getBoundingClientRect().top - top);
  history.replaceState(null, "", "#" + now.id);
  const buttons = [...now.querySelectorAll(".siblings button:enabled")];
  (buttons.find((button) => Number(button.dataset.by) === by) || buttons[0]).focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.by) move(button.closest("article"), Number(button.dataset.by));
  if (button.dataset.to) {
    show(button.dataset.to);
    const target = articles.get(button.dataset.to);
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  }
  if (button.id === "theme") {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }
});

function openLinked() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target || !target.dataset.id) return;
  if (target.hidden) show(target.dataset.id);
  target.scrollIntoView();
}
addEventListener("hashchange", openLinked);
openLinked();

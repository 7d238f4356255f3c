// What changes while one looks. One tab holds the only connection of a browser (a lock decides which), and tells the others.
import { become, load, refresh, say } from "./dom.js";

const channel = new BroadcastChannel("bough");
const TOPICS = ["turn.started", "turn.delta", "turn.sketch", "turn.done", "turn.failed", "message.added", "message.labelled", "session.moved",
  "session.created", "session.updated", "trash.changed", "import.done", "store.changed", "reset"];
let timer = 0;

channel.onmessage = (event) => heard(event.data.topic, event.data.data);
navigator.locks?.request("bough events", () => new Promise((release) => {
  let last = Number(document.body.dataset.cursor) || 0, source = null, lost = false;
  function connect() {
    source = new EventSource(`/api/v1/events?after=${last}`);
    for (const topic of TOPICS) source.addEventListener(topic, (event) => {
      if (event.lastEventId) last = Number(event.lastEventId);
      const data = JSON.parse(event.data);
      channel.postMessage({ topic, data });
      heard(topic, data);
    });
    source.onopen = () => { if (lost) { lost = false; say("Connected again"); later(); } };
    source.onerror = () => {
      if (!lost) say("The connection was lost; trying again");
      lost = true;
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
    };
  }
  connect();
  addEventListener("pagehide", () => { source.close(); release(); });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}));

function heard(topic, data) {
  const writing = data.turn && document.querySelector(`[data-turn="${CSS.escape(data.turn)}"] .open-block`);
  if (topic === "turn.delta") {
    if (writing && data.kind === "text") write(writing, writing.textContent + data.text);
    return;
  }
  if (topic === "turn.sketch") {
    const come = (data.blocks ?? []).filter((block) => block.type === "text").map((block) => block.text).join("\n");
    if (writing && come.length > writing.textContent.length) write(writing, come);
    if (writing) return;
  }
  if (writing && (topic === "turn.done" || topic === "turn.failed") && data.last) { ended(data); return; }
  later();
}

function write(element, words) {
  const follows = innerHeight + scrollY > document.documentElement.scrollHeight - 160;
  element.textContent = words;
  if (follows) scrollTo(0, document.documentElement.scrollHeight);
}

/** The screen of the whole reply, in place of the one on which it was written. */
async function ended(data) {
  if (document.querySelectorAll("[data-turn]").length > 1) { later(); return; }  // others are still being written
  const { page, url, status } = await load(`/m/${data.last}`);
  if (status >= 400) return;
  const messages = document.getElementById("messages"), read = page.getElementById("messages");
  if (messages && read) { become(messages, read); read.replaceWith(messages); }
  become(document.getElementById("main"), page.getElementById("main"));
  const aside = document.querySelector("aside.panel-right"), next = page.querySelector("aside.panel-right");
  if (aside && next) aside.replaceWith(document.adoptNode(next));
  document.title = page.title;
  history.replaceState(null, "", url);
  const words = document.getElementById(`m-${data.last}`)?.querySelector(".body")?.textContent.trim().split(/\s+/).length ?? 0;
  say(data.status === "failed" ? "The answer failed" : `Answer finished, ${words} words`);
}

/** Loads the part of this screen that lists something again, at most a few times a second. */
function later() {
  if (timer) return;
  timer = setTimeout(async () => {
    timer = 0;
    await refresh().catch(() => {});
  }, 120);
}

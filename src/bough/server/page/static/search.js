// Results while one types.
import { become, load } from "./dom.js";

const box = document.getElementById("q");
let running = null, timer = 0;

async function search() {
  running?.abort();
  running = new AbortController();
  const address = new URL(location.href), words = box.value.trim();
  address.search = words ? `?${new URLSearchParams({ q: words })}` : "";
  const results = document.getElementById("results");
  results.setAttribute("aria-busy", "true");
  try {
    const { page } = await load(address.href, running.signal);
    const next = page.getElementById("results");
    if (!next || box.value.trim() !== words) return;
    become(results, next);
    document.querySelector("main").dataset.state = page.querySelector("main").dataset.state;
    document.title = page.title;
    history.replaceState(null, "", address);
  } catch (error) {
    if (error.name === "AbortError") return;
  }
  results.removeAttribute("aria-busy");
}

if (box) {
  box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
  if (!box.value) box.focus();
}

// @ts-check
// What every page does: the language links keep the address, open lists close again.

import { announceIn } from "./announce.js";

announceIn(document.getElementById("live"));

for (const link of document.querySelectorAll("a[data-language]")) {
  link.addEventListener("click", () => {
    const address = new URL(window.location.href);
    address.searchParams.set("lang", link.getAttribute("data-language") ?? "");
    link.setAttribute("href", address.pathname + address.search + address.hash);
  });
}

const drops = /** @type {NodeListOf<HTMLDetailsElement>} */ (
  document.querySelectorAll("details.drop")
);

document.addEventListener("click", (event) => {
  for (const one of drops) {
    if (one.open && !(event.target instanceof Node && one.contains(event.target))) one.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const one of drops) {
    if (!one.open) continue;
    one.open = false;
    one.querySelector("summary")?.focus();
  }
});

// @ts-check
// A button that opens a panel below it. Escape and a press elsewhere close it.

import { el } from "../shared/dom.js";

/**
 * @param {{key: string, label: string, main?: boolean}} button
 * @param {(close: () => void) => Node} panelOf makes what the panel holds, when it is first opened
 * @returns {HTMLElement}
 */
export function menu({ key, label, main = false }, panelOf) {
  const panel = el("div", { class: "r-panel", id: `result-${key}`, hidden: true });
  const opener = el(
    "button",
    {
      type: "button",
      class: main ? "button primary" : "button",
      "aria-expanded": false,
      "aria-controls": `result-${key}`,
      dataset: { focus: key },
      onclick: () => (panel.hidden ? open() : close()),
    },
    label,
    " ",
    el("span", { "aria-hidden": true, class: "r-caret" }, "▾"),
  );
  const box = el("div", { class: "r-menu" }, opener, panel);
  const elsewhere = (/** @type {Event} */ event) => {
    if (!box.isConnected || !box.contains(/** @type {Node} */ (event.target))) close(false);
  };
  const open = () => {
    if (!panel.firstChild) panel.append(panelOf(close));
    panel.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", elsewhere);
  };
  const close = (back = true) => {
    panel.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", elsewhere);
    if (back) opener.focus();
  };
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    event.stopPropagation();
    close();
  });
  return box;
}

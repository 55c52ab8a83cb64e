// @ts-check
// A dialog with a title, a body and buttons; the browser keeps the focus inside and gives it back.

import { announceIn } from "../shared/announce.js";
import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { icon } from "./icons.js";

/**
 * @typedef {{dialog: HTMLDialogElement, body: HTMLElement, foot: HTMLElement,
 *   title: HTMLElement, close: () => void}} Sheet
 */

let number = 0;

/**
 * @param {string} title
 * @param {{small?: boolean, onClose?: () => void}} [options]
 * @returns {Sheet}
 */
export function openSheet(title, options = {}) {
  number += 1;
  const id = `sheet-${number}`;
  const heading = el("h2", { id }, title);
  const live = el("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  const body = el("div", { class: "sheet-body" });
  const foot = el("div", { class: "sheet-foot" });
  const dialog = el(
    "dialog",
    { class: options.small ? "sheet small-sheet" : "sheet", "aria-labelledby": id },
    el(
      "div",
      { class: "sheet-head" },
      heading,
      el(
        "button",
        { type: "button", class: "icon-button", "aria-label": t("builder.close"), onclick: () => dialog.close() },
        icon("close"),
      ),
    ),
    body,
    foot,
    live,
  );
  dialog.addEventListener("close", () => {
    announceIn(null);
    dialog.remove();
    options.onClose?.();
  });
  dialog.addEventListener("pointerdown", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
  document.body.append(dialog);
  dialog.showModal();
  announceIn(live);
  return { dialog, body, foot, title: heading, close: () => dialog.close() };
}

/**
 * A control under its label.
 * @param {string} text
 * @param {HTMLElement} control
 * @returns {HTMLElement}
 */
export function labelled(text, control) {
  number += 1;
  control.id ||= `control-${number}`;
  return el("div", { class: "stacked" }, el("label", { for: control.id }, text), control);
}

/**
 * Draw a part of the page anew and give the focus back to the control that had it.
 * @param {HTMLElement} root
 * @param {() => void} draw
 */
export function keepFocus(root, draw) {
  const active = document.activeElement;
  const key = active && root.contains(active) ? active.getAttribute("data-focus") : null;
  draw();
  if (key) {
    const again = root.querySelector(`[data-focus="${CSS.escape(key)}"]`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }
}

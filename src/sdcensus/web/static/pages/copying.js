// @ts-check
// A button that copies a text.

import { announce } from "../shared/announce.js";
import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";

/**
 * @param {() => string} text
 * @returns {HTMLButtonElement}
 */
export function copyButton(text) {
  const button = el("button", { class: "button", type: "button" }, t("pages.common.copy"));
  button.addEventListener("click", async () => {
    if (!(await copied(text()))) return;
    button.textContent = t("pages.common.copied");
    announce(t("pages.common.copied"));
    window.setTimeout(() => {
      button.textContent = t("pages.common.copy");
    }, 1500);
  });
  return button;
}

/** @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without https browsers have no clipboard for scripts, only for people who select.
    const area = el("textarea", { class: "visually-hidden", "aria-hidden": true });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

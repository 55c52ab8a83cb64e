// @ts-check
// Beside the result: that it is on its way, and what went wrong where the last table stays.

import { announce } from "../shared/announce.js";
import { el, fill } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { waitText } from "../shared/times.js";

const QUIET = 250; // milliseconds in which most answers come; nothing flickers for them
const LONG = 2500;

/**
 * @param {HTMLElement} bar
 * @param {HTMLElement} result
 */
export function progressIn(bar, result) {
  const inner = /** @type {HTMLElement} */ (bar.firstElementChild);
  let timers = [];
  return {
    start() {
      this.end();
      result.setAttribute("aria-busy", "true");
      timers = [
        window.setTimeout(() => {
          bar.hidden = false;
          result.classList.add("old");
        }, QUIET),
        window.setTimeout(() => announce(t("builder.result.working")), LONG),
      ];
    },
    /** @param {number | null} share */
    at(share) {
      bar.classList.toggle("known", share !== null);
      if (share !== null) inner.style.setProperty("width", `${Math.round(share * 100)}%`);
    },
    end() {
      timers.forEach((one) => window.clearTimeout(one));
      timers = [];
      bar.hidden = true;
      bar.classList.remove("known");
      inner.style.removeProperty("width");
      result.setAttribute("aria-busy", "false");
      result.classList.remove("old");
    },
  };
}

/**
 * A failure that has nothing to do with the question: the last table stays, and one may try again.
 * @param {HTMLElement} root
 * @param {import("../shared/api.js").ApiError} error
 * @param {{stays: boolean, retry: () => void}} options stays: whether there is a table to stay
 */
export function showTrouble(root, error, { stays, retry }) {
  const key = ["quota", "busy", "network"].includes(error.code) ? error.code : "internal";
  const wait = error.retryAfter;
  fill(
    root,
    el(
      "div",
      { class: "notice trouble", role: "alert" },
      el(
        "p",
        {},
        el("strong", {}, t(`builder.problem.${key}`)),
        stays ? ` ${t("builder.problem.stays")}` : "",
        wait ? ` ${waitText(wait)}` : "",
        error.request ? el("small", {}, ` ${t("builder.problem.request", { id: error.request })}`) : "",
      ),
      el("button", { type: "button", class: "button", onclick: retry }, t("builder.problem.retry")),
    ),
  );
}

/** Is this failure about the server or the way to it, not about the question? */
export function isTrouble(error) {
  return ["quota", "busy", "network", "internal", "csrf"].includes(error.code) || error.status >= 500;
}

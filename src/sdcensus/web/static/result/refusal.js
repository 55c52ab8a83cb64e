// @ts-check
// Instead of a table: why there is none, and what would help.

import { el } from "../shared/dom.js";
import { known, t } from "../shared/texts.js";
import { waitText } from "../shared/times.js";
import { helpOf } from "./head.js";

/**
 * @param {any} error what the API says (ApiError, or its shape)
 * @param {(question: object) => void} onQuestion
 * @param {(() => void) | undefined} onRetry
 */
export function refusalOf(error, onQuestion, onRetry) {
  const code = error.code ?? "internal";
  const name = code.replace(/-/g, "_");
  const key = known(`result.refusal.${name}`) ? name : "other";
  const wait = error.retryAfter ?? null;
  const reasons = error.reasons ?? [];
  return el(
    "div",
    { class: `r-refusal ${key === "refused" ? "r-refusal-refused" : ""}`, role: "alert" },
    el("h2", { tabindex: -1, dataset: { focus: "refusal" } }, t(`result.refusal.${key}`)),
    // With reasons, the message of a refusal only says what the heading says.
    error.message && !(key === "refused" && reasons.length > 0) && !waits(error) && el("p", {}, plain(error)),
    error.place && el("p", { class: "r-soft" }, t("result.refusal.place", { place: error.place })),
    wait !== null && el("p", {}, waitText(wait)),
    helpOf(reasons, error.remedies ?? [], onQuestion),
    onRetry &&
      ["network", "busy", "quota", "internal"].includes(code) &&
      el("button", { type: "button", class: "button", onclick: onRetry }, t("result.refusal.retry")),
    error.request &&
      el("p", { class: "r-soft small" }, t("result.refusal.request", { id: error.request })),
  );
}

/**
 * Whether the message is about a time to wait: the server tells it for all countries, the page for
 * the clock of its reader.
 * @param {any} error
 */
export function waits({ code, retryAfter }) {
  return Boolean(retryAfter) && ["quota", "busy"].includes(code);
}

/** The message without its place, which is said after it. @param {any} error */
function plain({ message, place }) {
  return place && message.startsWith(`${place}: `) ? message.slice(place.length + 2) : message;
}

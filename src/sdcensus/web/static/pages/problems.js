// @ts-check
// What went wrong, in one notice.

import { el, fill } from "../shared/dom.js";
import { t } from "../shared/texts.js";

/** @param {any} error */
export function problemText(error) {
  if (error?.code === "network") return t("pages.common.network");
  return error?.message ? error.message : t("pages.common.network");
}

/**
 * Show a problem in a place that screen readers are told about, or take it away.
 * @param {Element | null} place
 * @param {any} error null for none
 */
export function showProblem(place, error) {
  if (!place) return;
  if (!error) fill(place);
  else fill(place, el("p", { class: "notice bad" }, problemText(error)));
}

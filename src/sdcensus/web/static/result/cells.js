// @ts-check
// What stands in a cell of a table, for eyes and for screen readers.

import { el } from "../shared/dom.js";
import { formatNumber } from "../shared/numbers.js";
import { plural, t } from "../shared/texts.js";

/** @typedef {import("./layout.js").Shown} Shown */

/** What stands for a share of nothing. */
export const UNDEFINED = "–";

/**
 * A share as a percentage without its sign, always with one decimal so that points line up.
 * @param {number} share
 * @param {string} language
 */
export function shareText(share, language) {
  return formatNumber(share * 100, language, 1, 1);
}

/**
 * The text of a cell as it is read by eye.
 * @param {Shown} shown
 * @param {{language: string, decimals: number, share: boolean}} how
 */
export function cellText(shown, how) {
  if (shown.undefined) return UNDEFINED;
  if (shown.value === null) return shown.sign || ":";
  const text = how.share
    ? shareText(shown.value, how.language)
    : formatNumber(shown.value, how.language, how.decimals, how.decimals);
  return shown.low ? `(${text})` : text;
}

/**
 * Why there is no figure, in words.
 * @param {Shown} shown
 * @param {Map<string, string>} legend
 */
export function meaningOf(shown, legend) {
  const meaning = shown.undefined ? t("result.legend.undefined") : legend.get(shown.sign);
  return meaning || t("result.cell.withheld");
}

/**
 * A cell of a table.
 * @param {Shown} shown
 * @param {{language: string, decimals: number, share: boolean, legend: Map<string, string>}} how
 * @param {{total?: boolean, headers?: string | null, word?: string}} [place]
 * @returns {HTMLTableCellElement}
 */
export function dataCell(shown, how, place = {}) {
  const cell = /** @type {HTMLTableCellElement} */ (document.createElement("td"));
  const text = cellText(shown, how);
  if (place.total) cell.className = "r-total";
  if (place.headers) cell.setAttribute("headers", place.headers);
  if (shown.value === null) {
    cell.classList.add("r-sign");
    if (place.word) {
      cell.textContent = place.word;
      return cell;
    }
    const words = meaningOf(shown, how.legend);
    cell.title = words;
    cell.append(el("span", { "aria-hidden": true }, text));
    cell.append(hidden(words));
    return cell;
  }
  cell.textContent = text;
  if (shown.low) {
    cell.classList.add("r-low");
    cell.append(hidden(t("result.cell.low")));
  }
  if (shown.parts > 1) {
    cell.classList.add("r-sum");
    const words = plural("result.cell.sum", shown.parts);
    cell.title = words;
    cell.append(hidden(words));
  }
  return cell;
}

/** @param {string} text */
export function hidden(text) {
  return el("span", { class: "visually-hidden" }, ` ${text}`);
}

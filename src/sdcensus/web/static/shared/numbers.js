// @ts-check
// Numbers as the language of the page writes them. The signs are those of the catalogue, as in
// notes and files: what browsers know of a language differs from them and from each other.

import { texts } from "./catalogue.js";

/** @type {Map<string, Intl.NumberFormat>} */
const formats = new Map();

/** What stands between thousands, and before decimals. */
export function numberSigns() {
  const words = texts();
  return {
    thousands: words["language.thousands"] ?? ",",
    decimals: words["language.decimals"] ?? ".",
    percent: (words["language.percent"] ?? "{n} %").replace(" ", "\u00a0"),
  };
}

/**
 * @param {number} n
 * @param {string} language the language of the page
 * @param {number} [decimals] at most so many digits behind the point
 * @param {number} [least] at least so many
 * @returns {string}
 */
export function formatNumber(n, language, decimals = 0, least = 0) {
  const signs = numberSigns();
  return plain(decimals, least)
    .format(n)
    .replace(/[.,]/g, (sign) => (sign === "," ? signs.thousands : signs.decimals));
}

/**
 * @param {number} share a fraction: 0.123 is written as 12.3 %
 * @param {string} language
 * @param {number} [decimals]
 * @returns {string}
 */
export function formatPercent(share, language, decimals = 1) {
  return percentText(formatNumber(share * 100, language, decimals, decimals));
}

/** A number, or a range of them, with the sign of percent. @param {string} figure */
export function percentText(figure) {
  return numberSigns().percent.replace("{n}", figure);
}

/** Formatters are costly to make, so each is made once. @param {number} decimals @param {number} least */
function plain(decimals, least) {
  const key = `${decimals} ${least}`;
  let made = formats.get(key);
  if (!made) {
    made = new Intl.NumberFormat("en-US", {
      minimumFractionDigits: least,
      maximumFractionDigits: decimals,
      useGrouping: true,
    });
    formats.set(key, made);
  }
  return made;
}

// @ts-check
// The words of the page, from the block of JSON that the server wrote into it.

import { language, texts } from "./catalogue.js";
import { formatNumber } from "./numbers.js";

export { language };

/**
 * The text of a key with its places filled. A key without a text shows itself.
 * @param {string} key such as "builder.areas.title"
 * @param {Record<string, string | number>} [values] numbers are written as the language does
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = texts()[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined || value === null) return whole;
    return typeof value === "number" ? formatNumber(value, language) : value;
  });
}

/**
 * The text for a number of things: the key with "_one" or "_other", and {n} for the number.
 * @param {string} key
 * @param {number} n
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function plural(key, n, values = {}) {
  const form = new Intl.PluralRules(language).select(n) === "one" ? "one" : "other";
  return t(`${key}_${form}`, { n, ...values });
}

/**
 * Is there a text for this key?
 * @param {string} key
 */
export function known(key) {
  return key in texts();
}

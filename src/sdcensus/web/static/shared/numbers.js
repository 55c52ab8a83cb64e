// @ts-check
// Numbers as a language writes them. Formatters are costly to make, so each is made once.

/** @type {Map<string, Intl.NumberFormat>} */
const formats = new Map();

/**
 * @param {number} n
 * @param {string} language
 * @param {number} [decimals]
 * @returns {string}
 */
export function formatNumber(n, language, decimals = 0) {
  return format(language, "decimal", decimals).format(n);
}

/**
 * @param {number} share a fraction: 0.123 is written as 12.3 %
 * @param {string} language
 * @param {number} [decimals]
 * @returns {string}
 */
export function formatPercent(share, language, decimals = 1) {
  return format(language, "percent", decimals).format(share);
}

function format(language, style, decimals) {
  const key = `${language} ${style} ${decimals}`;
  let made = formats.get(key);
  if (!made) {
    made = new Intl.NumberFormat(language, {
      style,
      minimumFractionDigits: style === "percent" ? decimals : 0,
      maximumFractionDigits: decimals,
      useGrouping: true,
    });
    formats.set(key, made);
  }
  return made;
}

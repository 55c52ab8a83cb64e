// @ts-check
// Texts as they are searched for: without accents, ligatures and capitals. The server does the same
// (``folded`` in model/text.py), so that both find alike.

/** Letters that no decomposition of Unicode takes apart. @type {Record<string, string>} */
const TYPED = {
  "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i",
  "ł": "l", "ŀ": "l", "þ": "th", "ŋ": "n", "ŧ": "t", "ς": "σ", "ʼ": "'", "’": "'",
};

/** @param {string} text */
export function folded(text) {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[ßæœøđðħıłŀþŋŧςʼ’]/g, (sign) => TYPED[sign]);
}

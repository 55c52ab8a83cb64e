// @ts-check
// Texts as somebody searches for them: without accents, small, in their plainest form. The server
// does the same (``plain_letters`` in model/letters.py), so that both find alike.

/** Letters that are one sign, as people write them without it. @type {Record<string, string>} */
const PLAIN = {
  "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i",
  "ß": "ss", "ς": "σ", "’": "'",
};
/** Accents; not the vowels that some scripts write as marks. */
const ACCENTS = /(?=\p{M})[\p{sc=Inherited}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}]/gu;

/** @param {string} text */
export function folded(text) {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKD")
    .replace(ACCENTS, "")
    .replace(/[øđðłħæœþıßς’]/g, (sign) => PLAIN[sign])
    .normalize("NFC");
}

// @ts-check
// The block of JSON with the words of the page that the server wrote into it.

/** @type {Record<string, string> | null} */
let catalogue = null;

/** The language of the page. */
export const language = document.documentElement.lang || "en";

/** Every text of the page by its key. @returns {Record<string, string>} */
export function texts() {
  if (catalogue === null) {
    catalogue = JSON.parse(document.getElementById("texts")?.textContent || "{}");
  }
  return /** @type {Record<string, string>} */ (catalogue);
}

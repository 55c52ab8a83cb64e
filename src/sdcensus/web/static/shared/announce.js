// @ts-check
// One place where screen readers are told what has changed.

/** @type {Element | null} */
let region = null;
let timer = 0;

/**
 * Say a text politely. The region is emptied first, so that the same text is said again.
 * @param {string} text
 */
export function announce(text) {
  const place = region ?? document.getElementById("live");
  if (!place) return;
  place.textContent = "";
  window.clearTimeout(timer);
  timer = window.setTimeout(() => {
    place.textContent = text;
  }, 60);
}

/** @param {Element | null} place */
export function announceIn(place) {
  region = place;
}

// @ts-check
// Times as a language writes them; without one, a dash.

import { language } from "../shared/texts.js";

// The language of the page, in the country of the reader if that speaks it: 24 hours or 12.
const place =
  navigator.languages.find((one) => one.toLowerCase().startsWith(`${language}-`)) ?? language;
const day = new Intl.DateTimeFormat(place, { dateStyle: "medium" });
const moment = new Intl.DateTimeFormat(place, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(place, { timeStyle: "medium" });

/** @param {string | null | undefined} iso */
export function dayText(iso) {
  return written(day, iso);
}

/** @param {string | null | undefined} iso */
export function momentText(iso) {
  return written(moment, iso);
}

/** The time alone where it is today. @param {string | null | undefined} iso */
export function recentText(iso) {
  const today = iso && new Date(iso).toDateString() === new Date().toDateString();
  return written(today ? clock : moment, iso);
}

/** @param {Date} date */
export function clockText(date) {
  return clock.format(date);
}

/**
 * @param {Intl.DateTimeFormat} format
 * @param {string | null | undefined} iso
 */
function written(format, iso) {
  const date = iso ? new Date(iso) : null;
  return date && !Number.isNaN(date.getTime()) ? format.format(date) : "–";
}

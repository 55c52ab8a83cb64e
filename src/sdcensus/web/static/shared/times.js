// @ts-check
// Days, and when something can be tried again: soon in seconds, later at a time of day.

import { language, plural, t } from "./texts.js";

const SOON = 90; // seconds that somebody waits for
const MINUTE = 60_000;

/**
 * A day as a language writes it; as it is where it is no day.
 * @param {string} iso such as 2021-05-31
 * @param {string} locale
 */
export function dayText(iso, locale) {
  const day = new Date(`${iso}T00:00:00Z`);
  if (Number.isNaN(day.getTime())) return iso;
  return new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" }).format(day);
}

/**
 * @param {number} seconds how long to wait
 * @param {Date} [now]
 */
export function waitText(seconds, now = new Date()) {
  if (seconds <= SOON) return plural("builder.problem.wait", seconds);
  // Never too early: up to the next full minute.
  const then = new Date(Math.ceil((now.getTime() + seconds * 1000) / MINUTE) * MINUTE);
  /** @type {Intl.DateTimeFormatOptions} */
  const day = { weekday: "long", day: "numeric", month: "long" };
  const today = then.toDateString() === now.toDateString();
  // "en" alone would be American: the reader's own kind of the language of the page.
  const locale = navigator.languages.find((one) => one.split("-")[0] === language) ?? language;
  const written = new Intl.DateTimeFormat(locale, {
    ...(today ? {} : day),
    hour: "2-digit",
    minute: "2-digit",
  });
  return t("builder.problem.until", { time: written.format(then) });
}

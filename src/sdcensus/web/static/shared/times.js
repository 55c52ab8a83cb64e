// @ts-check
// When something can be tried again, as people say it: soon in seconds, later at a time of day.

import { language, plural, t } from "./texts.js";

const SOON = 90; // seconds that somebody waits for
const MINUTE = 60_000;

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

// @ts-check
// One alarm: the pattern in words, why it matters, the tables that were asked for.

import { el } from "../shared/dom.js";
import { formatNumber } from "../shared/numbers.js";
import { known, language, t } from "../shared/texts.js";
import { momentText, recentText } from "./dates.js";
import { whoText } from "./staff-questions.js";

/**
 * @param {any} alarm
 * @param {(alarm: any) => void} acknowledge
 */
export function alarmCard(alarm, acknowledge) {
  const key = `staff.${alarm.pattern}`;
  const who = whoText(alarm.who);
  const tables = [...new Set(alarm.explanation?.tables ?? [])];
  return el(
    "article",
    { class: alarm.acknowledged ? "alarm old" : "alarm" },
    el("div", {},
      el("h3", {}, `${known(key) ? t(key) : alarm.pattern} · ${who}`),
      el("p", {}, sentence(alarm, key, who)),
      known(`${key}_why`) ? el("p", { class: "soft" }, t(`${key}_why`)) : null),
    el("div", { class: "side" },
      el("span", {}, `${t("staff.alarm_score")} ${formatNumber(alarm.score, language, 2)}`,
        el("span", { class: "soft" }, ` (${t("staff.alarm_score_help")})`)),
      el("span", { class: "soft small" },
        `${t("staff.alarm_last")} ${recentText(alarm.last)} · ${formatNumber(alarm.count, language)}×`),
      alarm.acknowledged
        ? el("span", { class: "small" }, t("staff.acknowledged",
          { who: alarm.acknowledged_by ?? "", time: momentText(alarm.acknowledged) }))
        : el("button", { class: "button", type: "button", onclick: () => acknowledge(alarm) },
          t("staff.acknowledge"))),
    tables.length === 0 ? null : el("details", {},
      el("summary", {}, `${t("staff.alarm_tables")} (${tables.length})`),
      el("ul", {}, tables.map((/** @type {string} */ one) => el("li", {}, one)))),
  );
}

/** The pattern in the language of the page, or as the server says it. */
function sentence(alarm, key, who) {
  const values = alarm.explanation?.values;
  if (!values || !known(`${key}_text`)) return alarm.explanation?.sentence ?? "";
  const said = { ...values, who };
  if (values.codes) said.target = `${values.target} (${values.codes})`;
  for (const [name, value] of Object.entries(said)) {
    if (typeof value === "number") said[name] = formatNumber(value, language, 1);
  }
  return t(`${key}_text`, said);
}

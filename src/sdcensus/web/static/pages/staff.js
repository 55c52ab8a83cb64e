// @ts-check
// The staff page: looks at the server again and again, and keeps the place of whoever reads.

import { announce } from "../shared/announce.js";
import { getJson, postJson } from "../shared/api.js";
import { el, fill } from "../shared/dom.js";
import { formatNumber, formatPercent } from "../shared/numbers.js";
import { known, language, t } from "../shared/texts.js";
import { clockText, dayText, momentText, recentText } from "./dates.js";
import { showProblem } from "./problems.js";
import { alarmCard } from "./staff-alarms.js";
import { questionLink, whoText } from "./staff-questions.js";

const EVERY = 10_000;
const VISITORS = 5;

/** @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** What each part showed last: a part that did not change is left alone, with focus and scroll. */
const shown = new Map();
let paused = false;
let timer = 0;

async function refresh() {
  window.clearTimeout(timer);
  try {
    const [summary, feedback, accounts] = await Promise.all([
      getJson("/api/v1/staff/summary"),
      getJson("/api/v1/staff/feedback"),
      getJson("/api/v1/staff/accounts"),
    ]);
    show(summary, feedback.feedback, accounts.accounts);
    showProblem(place("staff-problem"), null);
    place("refreshed").textContent = t("staff.refreshed", { time: clockText(new Date()) });
  } catch (error) {
    const older = shown.size > 0;
    showProblem(place("staff-problem"), older ? { message: t("staff.stale") } : error);
  }
  if (!paused && !document.hidden) timer = window.setTimeout(refresh, EVERY);
}

/** @param {any} summary @param {any[]} feedback @param {any[]} accounts */
function show(summary, feedback, accounts) {
  part("load", summary.load, loadFacts);
  const all = /** @type {HTMLInputElement} */ (place("acknowledged")).checked;
  const open = summary.alarms.filter((/** @type {any} */ one) => !one.acknowledged);
  place("alarm-count").textContent = open.length ? formatNumber(open.length, language) : "";
  part("alarms", all ? summary.alarms : open, alarmList);
  part("outcomes", summary.outcomes, (found) =>
    counts(Object.entries(found).map(([name, n]) => [t(`staff.outcome_${name}`), n])));
  part("refusals", summary.refusals, (found) =>
    counts(Object.entries(found).map(([name, n]) => [reason(name), n])));
  part("versions", [summary.versions, summary.audit, summary.groups], versionList);
  part("slowest", summary.slowest, slowestList);
  const unread = feedback.filter((one) => !one.read);
  place("feedback-count").textContent = unread.length ? formatNumber(unread.length, language) : "";
  part("feedback", feedback, feedbackList);
  part("accounts", [accounts, summary.watch], accountList);
}

/**
 * Show a part anew if what it shows has changed.
 * @param {string} id
 * @param {any} value
 * @param {(value: any) => any} make
 */
function part(id, value, make) {
  const key = JSON.stringify(value);
  if (shown.get(id) === key) return;
  shown.set(id, key);
  fill(place(id), make(value));
}

const none = () => el("p", { class: "soft" }, t("staff.none"));

// Parts ---------------------------------------------------------------------------------------

/** @param {any} load */
function loadFacts(load) {
  const asked = load.cache.hit + load.cache.miss;
  return [
    ["processor", formatPercent(busy(load), language, 0)],
    ["running", `${formatNumber(load.making, language)} / ${load.workers}`],
    ["jobs", formatNumber(load.jobs, language)],
    ["hits", asked ? formatPercent(load.cache.hit / asked, language, 0) : "–"],
    ["cache", `${formatNumber(load.cache.entries, language)} · ${bytes(load.cache.bytes)}`],
    ["uptime", recentText(load.since)],
  ].map(([key, value]) =>
    el("div", {}, el("dt", {}, t(`staff.${key}`)), el("dd", {}, value)));
}

let before = { at: 0, seconds: 0 };

/** How busy the processors were since the last look; at first, since the start. */
function busy(/** @type {any} */ load) {
  const now = { at: performance.now() / 1000, seconds: load.processor_seconds };
  const passed = before.at ? now.at - before.at : load.seconds;
  const share = (now.seconds - before.seconds) / Math.max(passed, 1) / (load.processors || 1);
  before = now;
  return Math.min(Math.max(share, 0), 1);
}

/** A reason in words, and as it is called in the audit. @param {string} name */
function reason(name) {
  const key = `staff.reason_${name.replaceAll("-", "_")}`;
  const code = el("code", { class: "soft" }, name);
  return known(key) ? [t(key), " ", code] : code;
}

/** @param {number} size */
function bytes(size) {
  return size < 1_000_000
    ? `${formatNumber(size / 1_000, language)} kB`
    : `${formatNumber(size / 1_000_000, language, size < 10_000_000 ? 1 : 0)} MB`;
}

/** @param {any[]} alarms */
function alarmList(alarms) {
  return alarms.length ? alarms.map((one) => alarmCard(one, acknowledge)) : none();
}

/** @param {any} alarm */
async function acknowledge(alarm) {
  try {
    await postJson(`/api/v1/staff/alarms/${encodeURIComponent(alarm.id)}/acknowledge`, {});
    announce(t("staff.acknowledged_now", { what: t(`staff.${alarm.pattern}`) }));
    place("alarms-title").focus();
    await refresh();
  } catch (error) {
    showProblem(place("staff-problem"), error);
  }
}

/** @param {[any, any][]} entries */
function counts(entries) {
  if (entries.length === 0) return none();
  const rows = entries
    .sort((one, other) => other[1] - one[1])
    .map(([name, n]) =>
      el("tr", {}, el("th", { scope: "row" }, name),
        el("td", { class: "number" }, formatNumber(n, language))));
  return el("table", { class: "plain" }, el("tbody", {}, rows));
}

/** @param {[any, any, any]} found versions, audit, groups */
function versionList([versions, audit, groups]) {
  const rows = [
    ["version_data", versions.data],
    ["version_keys", versions.keys],
    ["version_secret", versions.secret_id],
    ["version_method", versions.method],
    ["version_policy", versions.policy],
    ["version_package", versions.package],
    ["version_audit", `${formatNumber(audit.entries, language)} · ${auditState(audit)}`],
    ...groupFacts(groups),
  ].map(([key, value]) =>
    el("tr", {}, el("th", { scope: "row", class: "soft" }, t(`staff.${key}`)),
      el("td", {}, String(value ?? "–"))));
  return el("table", { class: "plain" }, el("tbody", {}, rows));
}

/** What the gate found before the service was opened. @param {any} groups @returns {string[][]} */
function groupFacts(groups) {
  if (!groups || groups.units.length === 0) return [];
  const { limit, units } = groups;
  const share = Math.max(...units.map((/** @type {any} */ one) => one.share));
  const sizes = units.map((/** @type {any} */ one) => one.smallest_group ?? 0);
  const smallest = Math.min(...sizes);
  const own = units.every((/** @type {any} */ one) => one.definition_keys);
  return [
    ["version_groups", t("staff.groups_share", {
      share: formatPercent(share, language, 1), limit: formatPercent(limit, language, 1) })],
    ["version_smallest_group", smallest
      ? formatNumber(smallest, language)
      : t("staff.smallest_group_none")],
    ["version_noise", t(own ? "staff.noise_definition" : "staff.noise_set")],
  ];
}

/** @param {any} audit */
function auditState(audit) {
  return t(audit.healthy ? "staff.audit_healthy" : "staff.audit_broken");
}

/** @param {any[]} slowest */
function slowestList(slowest) {
  const rows = slowest.map((one) =>
    el("tr", {},
      el("td", { class: "number" }, t("staff.milliseconds", { n: one.milliseconds })),
      cell("cells", "number", formatNumber(one.cells, language)),
      el("td", { class: "question" }, questionLink(one.question)),
      el("td", { class: "nowrap soft" }, one.format),
      el("td", { class: "nowrap soft" }, recentText(one.at))));
  return table(["took", "cells", "question", "format", "when"], rows, "slowest", 2);
}

/** @param {any[]} feedback */
function feedbackList(feedback) {
  const rows = feedback.map((one) =>
    el("tr", {},
      el("td", { class: "nowrap soft" }, momentText(one.time)),
      el("td", { class: "message" }, one.text),
      cell("feedback_contact", "contact", one.contact || "–"),
      cell("feedback_table", "question", questionLink(one.question)),
      el("td", { class: "actions" }, one.read
        ? el("span", { class: "soft" }, t("staff.read", { who: one.read_by ?? "" }))
        : el("button", { class: "button", type: "button", onclick: () => markRead(one) },
          t("staff.mark_read")))));
  const heads = ["feedback_when", "feedback_text", "feedback_contact", "feedback_table", ""];
  return table(heads, rows, "feedback");
}

/** @param {any} one */
async function markRead(one) {
  try {
    await postJson(`/api/v1/staff/feedback/${encodeURIComponent(one.id)}/read`, {});
    place("feedback-title").focus();
    await refresh();
  } catch (error) {
    showProblem(place("staff-problem"), error);
  }
}

/** @param {[any[], any]} found accounts, watch */
function accountList([accounts, watch]) {
  const scores = new Map(watch.accounts.map((/** @type {any} */ one) => [one.who, one]));
  const names = new Set(accounts.map((one) => one.name));
  const others = watch.accounts.filter((/** @type {any} */ one) => !names.has(one.who));
  const rows = accounts.map((one) =>
    el("tr", {},
      el("th", { scope: "row" }, one.name,
        one.display_name ? el("span", { class: "soft" }, ` ${one.display_name}`) : null),
      el("td", {}, t(`pages.account.role_${one.role}`)),
      cell("account_created", "nowrap soft", dayText(one.created)),
      el("td", { class: "nowrap" }, one.disabled
        ? t("staff.account_disabled", { time: dayText(one.disabled) })
        : t("staff.account_active")),
      watched(scores.get(one.name))));
  // Visitors have no account, but a score; so has everybody together.
  for (const one of [...others.slice(0, VISITORS), watch.everybody]) {
    rows.push(el("tr", {},
      el("th", { scope: "row" }, whoText(one.who)),
      el("td", { class: "empty" }), el("td", { class: "empty" }), el("td", { class: "empty" }),
      watched(one)));
  }
  return table(
    ["account_name", "account_role", "account_created", "account_state", "account_questions",
      "account_score"],
    rows, "accounts", 0, [4, 5]);
}

/** Questions and score of somebody. @param {any} one */
function watched(one) {
  const high = one && one.score >= 1;
  return [
    cell("account_questions", "number", one ? formatNumber(one.questions, language) : "–"),
    cell("account_score", high ? "number high" : "number",
      one ? formatNumber(one.score, language, 2) : "–"),
  ];
}

/** A cell that says what it is where the headings are not seen. */
function cell(/** @type {string} */ key, /** @type {string} */ name, /** @type {any} */ content) {
  return el("td", { class: name, "data-label": t(`staff.${key}`) }, content);
}

/**
 * @param {string[]} heads keys, empty for buttons
 * @param {any[]} rows
 * @param {string} label
 * @param {number} [numbers] how many columns at the front hold numbers
 * @param {number[]} [further] other columns with numbers
 */
function table(heads, rows, label, numbers = 0, further = []) {
  if (rows.length === 0) return none();
  const cells = heads.map((key, at) => {
    const number = at < numbers || further.includes(at);
    return key
      ? el("th", { scope: "col", class: number ? "number" : null }, t(`staff.${key}`))
      : el("td", {});
  });
  return el("div", { class: "table-scroll", tabindex: "0", role: "group",
    "aria-label": t(`staff.${label}`) },
    el("table", { class: "plain stacking" },
      el("thead", {}, el("tr", {}, cells)), el("tbody", {}, rows)));
}

// Refreshing ----------------------------------------------------------------------------------

place("refresh").addEventListener("click", refresh);
place("acknowledged").addEventListener("change", () => {
  shown.delete("alarms");
  refresh();
});
place("pause").addEventListener("click", () => {
  paused = !paused;
  place("pause").setAttribute("aria-pressed", String(paused));
  place("pause").textContent = t(paused ? "staff.resume" : "staff.pause");
  if (paused) window.clearTimeout(timer);
  else refresh();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !paused) refresh();
});
refresh();

// @ts-check
// The staff page: looks at the server again and again, and keeps the place of whoever reads.

import { announce } from "../shared/announce.js";
import { getJson, postJson } from "../shared/api.js";
import { el, fill } from "../shared/dom.js";
import { formatNumber, formatPercent } from "../shared/numbers.js";
import { language, t } from "../shared/texts.js";
import { clockText, dayText, momentText } from "./dates.js";
import { showProblem } from "./problems.js";
import { alarmCard } from "./staff-alarms.js";

const EVERY = 10_000;

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
    const known = shown.size > 0;
    showProblem(place("staff-problem"), known ? { message: t("staff.stale") } : error);
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
    counts(Object.entries(found).map(([name, n]) => [el("code", {}, name), n])));
  part("versions", [summary.versions, summary.audit], versionList);
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
    ["running", `${formatNumber(load.making, language)} / ${load.workers}`],
    ["jobs", formatNumber(load.jobs, language)],
    ["hits", asked ? formatPercent(load.cache.hit / asked, language, 0) : "–"],
    ["cache", `${formatNumber(load.cache.entries, language)} · ${bytes(load.cache.bytes)}`],
    ["uptime", momentText(load.since)],
  ].map(([key, value]) =>
    el("div", {}, el("dt", {}, t(`staff.${key}`)), el("dd", {}, value)));
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
    announce(t("staff.acknowledge"));
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

/** @param {[any, any]} found versions, audit */
function versionList([versions, audit]) {
  const rows = [
    ["version_data", versions.data],
    ["version_keys", versions.keys],
    ["version_secret", versions.secret_id],
    ["version_method", versions.method],
    ["version_policy", versions.policy],
    ["version_package", versions.package],
    ["version_audit", `${formatNumber(audit.entries, language)} · ${auditState(audit)}`],
  ].map(([key, value]) =>
    el("tr", {}, el("th", { scope: "row", class: "soft" }, t(`staff.${key}`)),
      el("td", {}, String(value ?? "–"))));
  return el("table", { class: "plain" }, el("tbody", {}, rows));
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
      el("td", { class: "number" }, formatNumber(one.cells, language)),
      el("td", { class: "nowrap" }, one.format),
      el("td", { class: "question" }, one.question),
      el("td", { class: "nowrap soft" }, momentText(one.at))));
  return table(["took", "cells", "format", "question", "when"], rows, "slowest", 2);
}

/** @param {any[]} feedback */
function feedbackList(feedback) {
  const rows = feedback.map((one) =>
    el("tr", {},
      el("td", { class: "nowrap soft" }, momentText(one.time)),
      el("td", { class: "message" }, one.text),
      el("td", {}, one.contact || "–"),
      el("td", {}, questionLink(one.question)),
      el("td", { class: "actions" }, one.read
        ? el("span", { class: "soft" }, t("staff.read", { who: one.read_by ?? "" }))
        : el("button", { class: "button", type: "button", onclick: () => markRead(one) },
          t("staff.mark_read")))));
  const heads = ["feedback_when", "feedback_text", "feedback_contact", "feedback_table", ""];
  return table(heads, rows, "feedback");
}

/** @param {string} question */
function questionLink(question) {
  if (!question) return "–";
  try {
    const asked = JSON.parse(question);
    const parameters = new URLSearchParams({ of: asked.of });
    for (const axis of asked.by ?? []) parameters.append("by", axis);
    if (asked.where) parameters.set("where", asked.where);
    for (const name of ["codes", "groups"]) {
      if (asked[name]) parameters.set(name, JSON.stringify(asked[name]));
    }
    return el("a", { href: `/?${parameters}` }, (asked.by ?? []).join(", ") || asked.of);
  } catch {
    return question;
  }
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
  const scores = new Map(watch.accounts.map((/** @type {any} */ one) => [one.who, one.score]));
  const rows = accounts.map((one) =>
    el("tr", {},
      el("th", { scope: "row" }, one.name,
        one.display_name ? el("span", { class: "soft" }, ` ${one.display_name}`) : null),
      el("td", {}, t(`pages.account.role_${one.role}`)),
      el("td", { class: "nowrap soft" }, dayText(one.created)),
      el("td", { class: "nowrap" }, one.disabled
        ? t("staff.account_disabled", { time: dayText(one.disabled) })
        : t("staff.account_active")),
      el("td", { class: "number" }, score(scores.get(one.name)))));
  return table(
    ["account_name", "account_role", "account_created", "account_state", "account_score"],
    rows, "accounts", 0, [4]);
}

/** @param {number | undefined} value */
function score(value) {
  return value === undefined ? "–" : formatNumber(value, language, 2);
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
    el("table", { class: "plain" }, el("thead", {}, el("tr", {}, cells)), el("tbody", {}, rows)));
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

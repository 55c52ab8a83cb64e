// @ts-check
// The account page: quota, saved tables, tokens.

import { arranged, tidy, writeAddress } from "../builder/state.js";
import { announce } from "../shared/announce.js";
import { deleteJson, getJson, postJson } from "../shared/api.js";
import { el, fill } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { copyButton } from "./copying.js";
import { dayText, momentText } from "./dates.js";
import { problemText, showProblem } from "./problems.js";

const problem = document.getElementById("account-problem");

/** @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * Do something that may fail, and say so where it does.
 * @param {() => Promise<void>} work
 */
async function attempt(work) {
  try {
    await work();
    showProblem(problem, null);
  } catch (error) {
    showProblem(problem, error);
  }
}

/**
 * @param {string[]} headings the last may be empty, for buttons
 * @param {any[]} rows
 * @param {string} label
 */
function table(headings, rows, label) {
  const heads = headings.map((one) =>
    one ? el("th", { scope: "col" }, one) : el("td", {}),
  );
  return el(
    "table",
    { class: "plain stacking", "aria-label": label },
    el("thead", {}, el("tr", {}, heads)),
    el("tbody", {}, rows),
  );
}

/** A cell that says what it is where the headings are not seen. */
function fact(/** @type {string} */ key, /** @type {string} */ text) {
  return el("td", { class: "nowrap soft", "data-label": t(`pages.account.${key}`) }, text);
}

// Quota ---------------------------------------------------------------------------------------

async function showQuota() {
  const { quota } = await getJson("/api/v1/account");
  const shown = [
    ["tables_day", left(quota.tables)],
    ["cells_hour", left(quota.cells)],
    ["jobs", left(quota.jobs)],
  ].map(([key, text]) =>
    el("div", {}, el("dt", {}, t(`pages.account.${key}`)), el("dd", {}, text)),
  );
  fill(place("quota"), shown);
}

/** @param {{limit: number | null, left: number | null}} one */
function left(one) {
  if (one.limit === null) return t("pages.account.unlimited");
  return t("pages.account.left", { left: one.left ?? one.limit, limit: one.limit });
}

// Saved tables --------------------------------------------------------------------------------

async function showSaved() {
  const { saved } = await getJson("/api/v1/saved");
  const where = place("saved");
  where.removeAttribute("aria-busy");
  if (saved.length === 0) {
    fill(where, el("p", { class: "soft" }, t("pages.account.saved_none")));
    return;
  }
  const rows = saved.map((/** @type {any} */ one) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("a", { href: builderLink(one) }, one.name)),
      fact("saved_when", momentText(one.created)),
      el(
        "td",
        { class: "actions" },
        el("button", {
          class: "button quiet",
          type: "button",
          "aria-label": t("builder.pair", { name: t("pages.common.delete"), value: one.name }),
          onclick: () => attempt(() => forget(one)),
        }, t("pages.common.delete")),
      ),
    ),
  );
  const headings = [t("pages.account.saved_name"), t("pages.account.saved_when"), ""];
  fill(where, table(headings, rows, t("pages.account.saved_title")));
}

/** @param {any} one */
function builderLink(one) {
  const asked = typeof one.question === "string" ? JSON.parse(one.question) : one.question;
  const question = tidy({ of: "persons", by: [], ...asked });
  return `/${writeAddress({ question, view: arranged(question, one.view ?? {}) })}`;
}

/** @param {any} one */
async function forget(one) {
  await deleteJson(`/api/v1/saved/${encodeURIComponent(one.id)}`);
  await showSaved();
  announce(t("pages.account.saved_deleted", { name: one.name }));
  document.getElementById("saved-title")?.focus();
}

// Tokens --------------------------------------------------------------------------------------

async function showTokens() {
  const { tokens } = await getJson("/api/v1/account/tokens");
  const where = place("tokens");
  where.removeAttribute("aria-busy");
  if (tokens.length === 0) {
    fill(where, el("p", { class: "soft" }, t("pages.account.tokens_none")));
    return;
  }
  const headings = ["token_name", "token_when", "token_used", "token_expires"].map((key) =>
    t(`pages.account.${key}`),
  );
  const rows = tokens.map(tokenRow);
  fill(where, table([...headings, ""], rows, t("pages.account.tokens_title")));
}

/** @param {any} one */
function tokenRow(one) {
  const revoke = () => el("button", {
      class: "button quiet",
      type: "button",
      "aria-label": t("builder.pair", { name: t("pages.account.token_revoke"), value: one.name }),
      onclick: () => {
        if (window.confirm(t("pages.account.token_confirm", { name: one.name }))) {
          attempt(() => revokeToken(one));
        }
      },
    }, t("pages.account.token_revoke"));
  const used = one.last_used ? momentText(one.last_used) : t("pages.account.token_never");
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, one.name),
    fact("token_when", dayText(one.created)),
    fact("token_used", used),
    fact("token_expires", dayText(one.expires)),
    el("td", { class: "actions" }, revoke()),
  );
}

/** @param {any} one */
async function revokeToken(one) {
  await deleteJson(`/api/v1/account/tokens/${encodeURIComponent(one.id)}`);
  await showTokens();
  announce(t("pages.account.token_gone", { name: one.name }));
  document.getElementById("tokens-title")?.focus();
}

/** @param {string} name */
async function makeToken(name) {
  const made = await postJson("/api/v1/account/tokens", { name });
  const text = made.secret;
  fill(
    place("made"),
    el("p", {}, t("pages.account.token_made")),
    el("code", {}, text),
    el("div", { class: "row-form" }, copyButton(() => text)),
  );
  await showTokens();
}

const form = /** @type {HTMLFormElement} */ (document.getElementById("token-form"));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const field = /** @type {HTMLInputElement} */ (document.getElementById("token-name"));
  attempt(async () => {
    await makeToken(field.value.trim());
    field.value = "";
  });
});

for (const [id, show] of /** @type {[string, () => Promise<void>][]} */ ([
  ["quota", showQuota], ["saved", showSaved], ["tokens", showTokens],
])) {
  show().catch((error) => {
    place(id).removeAttribute("aria-busy");
    const tag = id === "quota" ? "div" : "p";
    fill(place(id), el(tag, { class: tag === "p" ? "notice bad" : "" },
      id === "quota" ? [el("dt", {}, ""), el("dd", {}, problemText(error))] : problemText(error)));
  });
}

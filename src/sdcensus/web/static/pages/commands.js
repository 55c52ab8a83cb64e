// @ts-check
// The command window: a program, its mistakes at their characters, its tables.

import { announce } from "../shared/announce.js";
import { downloadFormats, linkTo } from "../result/downloads.js";
import { finished } from "../result/jobs.js";
import { getJson, postJson } from "../shared/api.js";
import { el, fill } from "../shared/dom.js";
import { language, plural, t } from "../shared/texts.js";
import { Editor, offsetOf, placeOf, withCaret } from "./editor.js";
import { examplePrograms } from "./examples.js";
import { preview } from "./preview.js";
import { problemText } from "./problems.js";

/** @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const field = /** @type {HTMLTextAreaElement} */ (place("program"));
const editor = new Editor(field, place("line-numbers"), place("editor"));
const run = /** @type {HTMLButtonElement} */ (place("run"));
const KEPT = "sdcensus-program";
const LONGEST_LINK = 8000; // longer programs are sent as a body
const MOST_CELLS = 50_000; // files of more may take a while

async function runProgram() {
  run.disabled = true;
  run.textContent = t("commands.running");
  fill(place("program-error"));
  editor.clearMistake();
  keep();
  try {
    const program = editor.text;
    const { tables } = await postJson("/api/v1/commands", { program });
    showTables(tables, program);
  } catch (error) {
    showMistake(error);
  } finally {
    run.disabled = false;
    run.textContent = t("commands.run");
  }
}

/** @param {any} error */
function showMistake(error) {
  const where = place("program-error");
  const parts = [el("strong", {}, t("commands.error"))];
  if (error.at === null || error.at === undefined) {
    fill(where, el("div", { class: "notice bad program-error" }, el("p", {}, problemText(error))));
    return;
  }
  const at = offsetOf(editor.text, error.at);
  const { line, column, words } = placeOf(editor.text, at);
  parts.push(
    el("p", {}, t("builder.pair", {
      name: t("commands.error_at", { line, column }),
      value: plainText(error),
    })),
    el("pre", { "aria-hidden": true }, withCaret(words, column)),
    el("button", { class: "link", type: "button", onclick: () => editor.goTo(at) },
      t("commands.go_there")),
  );
  fill(where, el("div", { class: "notice bad program-error" }, parts));
  editor.showMistake(at);
  editor.goTo(at);
}

/** The message without its place, which is said before it. @param {any} error */
function plainText(error) {
  const text = problemText(error);
  return error.place && text.startsWith(`${error.place}: `)
    ? text.slice(error.place.length + 2)
    : text;
}

/** @param {any[]} tables @param {string} program */
function showTables(tables, program) {
  const where = place("result");
  if (tables.length === 0) {
    fill(where, el("p", { class: "soft" }, t("commands.result_none")));
    return;
  }
  fill(where, tables.map((one) => tableCard(one, program, tables.length === 1)));
  announce(plural("commands.made", tables.length));
  if (tables.length === 1) {
    /** @type {HTMLElement | null} */ (where.querySelector("[aria-expanded]"))?.click();
  }
}

/** @param {any} one @param {string} program @param {boolean} alone */
function tableCard(one, program, alone) {
  const query = new URL(one.link, window.location.href).search;
  const shares = one.share === "row" || one.share === "column";
  const view = shares ? `&show=${one.share}` : "";
  // The builder computes shares; of other figures it has the counts that they come from.
  const counts = one.computed && !shares;
  const shown = el("div", { class: "preview", hidden: true });
  const toggle = el("button", {
    class: "button",
    type: "button",
    "aria-expanded": false,
    onclick: () => {
      shown.hidden = !shown.hidden;
      toggle.setAttribute("aria-expanded", String(!shown.hidden));
      toggle.textContent = t(shown.hidden ? "commands.show" : "commands.hide");
      if (!shown.hidden && !shown.hasChildNodes()) showTable(one, shown, program, alone);
    },
  }, t("commands.show"));
  return el(
    "article",
    { class: "card made-table" },
    el("h3", {}, one.title || one.name),
    one.title ? el("code", { class: "soft" }, one.name) : null,
    one.computed ? el("p", { class: "soft small computed" }, t("commands.computed")) : null,
    el(
      "div",
      { class: "actions" },
      toggle,
      el("a", { class: "button", href: `/${query}${view}` },
        t(counts ? "commands.open_counts" : "commands.open")),
      el("a", { class: "button quiet", href: one.computed ? one.result : one.link },
        t("commands.link")),
    ),
    shown,
  );
}

/** @param {any} one @param {HTMLElement} where @param {string} program @param {boolean} alone */
async function showTable(one, where, program, alone) {
  fill(where, el("p", { class: "soft", role: "status" }, t("commands.loading")));
  try {
    const dataset = await tableOf(one, program);
    const about = dataset.extension?.sdcensus ?? {};
    const parts = [];
    if (about.areas && about.areas.available < about.areas.all) {
      parts.push(el("p", { class: "notice" }, t("commands.withheld", about.areas)));
    }
    parts.push(...preview(dataset));
    parts.push(downloads(one, dataset));
    const notes = (dataset.note ?? []).map((/** @type {string} */ text) => el("p", {}, text));
    parts.push(el("details", { class: "notes", open: alone },
      el("summary", {}, t("commands.notes", { n: notes.length })), notes));
    fill(where, parts);
  } catch (error) {
    fill(where, refusal(error));
  }
}

/** Files of the table as the program has it. Larger ones are made by the table builder. */
function downloads(/** @type {any} */ one, /** @type {any} */ dataset) {
  const cells = dataset.size.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
  if (one.result.length > LONGEST_LINK || cells > MOST_CELLS) return null;
  return el("p", { class: "files small" }, el("span", { class: "soft" },
    `${t("result.download.button")}: `), downloadFormats(dataset.extension?.sdcensus?.formats).map((file) =>
    el("a", { href: linkTo(one.result, file.format, language),
      download: file.name === "json-stat" ? `${one.name}.json` : true },
      file.label)));
}

/** The table with its figures, waited for where it is large. @param {any} one @param {string} program */
async function tableOf(one, program) {
  const made = one.result.length <= LONGEST_LINK
    ? await getJson(one.result)
    : await postJson("/api/v1/commands/table", { program, table: one.name });
  return made.job ? getJson(await finished(made.job)) : made;
}

/** @param {any} error */
function refusal(error) {
  const parts = [el("p", {}, problemText(error))];
  for (const reason of error.reasons ?? []) parts.push(el("p", {}, reason.text));
  const remedies = (error.remedies ?? []).map((/** @type {any} */ one) => {
    const asked = new URLSearchParams({ of: one.question.of });
    if (one.question.measure) asked.set("measure", one.question.measure);
    for (const axis of one.question.by ?? []) asked.append("by", axis);
    if (one.question.where) asked.set("where", one.question.where);
    for (const name of ["codes", "groups"]) {
      if (one.question[name]) asked.set(name, JSON.stringify(one.question[name]));
    }
    return el("li", {}, el("a", { href: `/?${asked}` }, one.text));
  });
  if (remedies.length > 0) {
    parts.push(el("p", {}, t("commands.what_helps")), el("ul", {}, remedies));
  }
  return el("div", { class: "notice", role: "alert" }, parts);
}

/** The program stays when somebody comes back within the session of the browser. */
function keep() {
  try {
    window.sessionStorage.setItem(KEPT, editor.text);
  } catch {
    // A browser that keeps nothing works as well.
  }
}

function kept() {
  try {
    return window.sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

run.addEventListener("click", runProgram);
place("clear").addEventListener("click", () => {
  editor.text = "";
  fill(place("program-error"));
  field.focus();
});
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    runProgram();
  }
});

const given = new URLSearchParams(window.location.search).get("program") ?? kept();
if (given !== null) editor.text = given;
const examples = await examplePrograms();
const drop = /** @type {HTMLDetailsElement} */ (place("examples"));
fill(
  place("example-list"),
  examples.map(({ title, program }) =>
    el("li", {}, el("button", {
      type: "button",
      onclick: () => {
        editor.text = program;
        drop.open = false;
        field.focus();
      },
    }, title)),
  ),
);
// Somebody may have begun to write while the examples were on their way.
if (given === null && editor.text === "") editor.text = examples[0]?.program ?? "";

// @ts-check
// The table builder: state in the address, panel on the left, result on the right.

import { showRefusal, showResult } from "../result/result.js";
import { ApiError } from "../shared/api.js";
import { debounced, el, fill } from "../shared/dom.js";
import * as texts from "../shared/texts.js";
import { makeApp } from "./app.js";
import { drawArrangement } from "./arrange.js";
import { isTrouble, progressIn, showTrouble } from "./output.js";
import { drawAreas, drawConditions, drawMeasure, drawPopulation, drawSize, summary } from "./panel.js";
import * as request from "./request.js";
import { openSaving } from "./saving.js";
import * as schema from "./schema.js";
import { arranged, questionParameters, readAddress, tidy, writeAddress } from "./state.js";
import { variableFinder } from "./variables.js";

const { language, t } = texts;
const WAIT = 350;

const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const block = (id) => JSON.parse(document.getElementById(id)?.textContent || "{}");

const page = block("page");
const start = block("start");
const state = readAddress(window.location.search) ?? started();
const app = makeApp({ state, onQuestion, onView, onChange, onTrouble });
const progress = progressIn(at("progress"), at("result"));
const drawVariables = variableFinder(at("variables"), app);

/** @type {any} */
let shown = null; // the dataset on the page
/** @type {{question: any, view: any, left: any[]} | null} */
let answered = null; // what was asked for it
let population = "";
const askSoon = debounced(() => void ask(), WAIT);

function started() {
  const question = tidy({ of: "persons", by: [], ...start.question });
  return { question, view: arranged(question, start.view ?? {}) };
}

/** The address keeps its language where it has one. */
function address() {
  return writeAddress(app.state, new URLSearchParams(window.location.search).get("lang"));
}

function remember(push) {
  const next = address();
  if (next === window.location.search) return;
  window.history[push ? "pushState" : "replaceState"](null, "", next + window.location.hash);
}

/**
 * Another question: the panel follows at once, the table as soon as it is there.
 * @param {any} question
 * @param {any} [view]
 */
function onQuestion(question, view = app.state.view) {
  const next = tidy({ of: "persons", by: [], ...question });
  app.state.question = next;
  app.state.view = arranged(next, view);
  app.state.broken = null;
  remember(true);
  drawPanel();
  fill(at("notices"));
  if (request.kept(next)) void ask();
  else {
    request.cancel();
    progress.start();
    askSoon();
  }
}

/**
 * Another view of the same table: nothing is asked for.
 * @param {any} partial
 */
function onView(partial) {
  const before = app.state.view;
  app.state.view = arranged(app.state.question, { ...before, ...partial });
  if (answered?.question === app.state.question) answered.view = app.state.view;
  remember(!("at" in partial));
  drawPanel();
  if (shown) drawResult();
}

async function ask() {
  const { question } = app.state;
  request.cancel();
  progress.start();
  try {
    if (app.state.broken) await damaged(app.state.broken);
    const answer = request.kept(question) ?? request.table(question, (share) => progress.at(share));
    const [dataset] = await Promise.all([answer, drawKnown().then(app.learnGroups)]);
    if (question !== app.state.question) return;
    shown = dataset;
    answered = { question, view: app.state.view, left: app.left };
    drawSize(at("size"), dataset.extension?.sdcensus ?? null, app.limits());
    drawResult();
  } catch (error) {
    // A later question has taken its place: what became of this one does not matter.
    if (error instanceof DOMException || question !== app.state.question) return;
    if (!(error instanceof ApiError)) throw error;
    if (isTrouble(error)) trouble(error, again());
    else refuse(error, question);
  }
  progress.end();
}

/** A link of which a part is lost asks for another table than its author saw. */
async function damaged(place) {
  await drawKnown();
  throw new ApiError({ code: "bad-question", status: 400, message: t("builder.problem.link"), place });
}

/**
 * The last table stays, and the panel goes back to what it shows: what was asked for instead is
 * asked again by a button.
 * @param {ApiError} error
 * @param {() => void} retry
 */
function trouble(error, retry) {
  if (shown && answered) {
    app.state.question = answered.question;
    app.state.view = arranged(answered.question, answered.view);
    app.state.broken = null;
    app.left = answered.left;
    remember(false);
    void drawKnown();
    drawSize(at("size"), shown.extension?.sdcensus ?? null, app.limits());
  } else fill(at("result"));
  drawPanel();
  showTrouble(at("notices"), error, { stays: Boolean(shown), retry });
}

/** What asks once more for what is wanted now. */
function again() {
  const { question, view } = app.state;
  const { left } = app;
  return () => {
    app.left = left;
    onQuestion(question, view);
  };
}

/** @param {any} problem @param {() => void} retry */
function onTrouble(problem, retry) {
  if (!(problem instanceof ApiError)) throw problem;
  trouble(problem, retry);
}

/** What a change of the population left out or brought back. @param {string[]} sentences */
function onChange(sentences) {
  if (sentences.length === 0) return;
  fill(at("notices"), el("p", { class: "notice", role: "status" }, sentences.join(" ")));
}

/**
 * @param {ApiError} error
 * @param {object} question
 */
function refuse(error, question) {
  shown = null;
  answered = null;
  showRefusal(at("result"), { error, texts, onQuestion, onRetry: again() });
  void request.sizes(question).then((found) => {
    if (question === app.state.question) drawSize(at("size"), found, app.limits());
  });
}

function drawResult() {
  const { question, view } = app.state;
  const query = new URLSearchParams(questionParameters(question));
  showResult(at("result"), {
    dataset: shown,
    official: app.official,
    view,
    texts,
    language,
    apiLink: `/api/v1/tables?${query}`,
    pageLink: window.location.pathname + writeAddress(app.state, language),
    onView,
    onQuestion,
  });
  document.title = `${app.title()} · ${document.title.split(" · ").slice(-2).join(" · ")}`;
}

/** What can be asked about, for the population of the question. */
async function drawKnown() {
  const { of } = app.state.question;
  if (of === population) return;
  const [known, list] = await Promise.allSettled([schema.populations(), schema.variables(of)]);
  if (of !== app.state.question.of) return;
  if (known.status === "fulfilled") app.populations = known.value.datasets;
  if (list.status === "fulfilled") {
    app.variables = new Map(list.value.map((one) => [one.name, one]));
    population = of;
  } // else asking for the table fails as well, and says so
  drawPanel();
}

function drawPanel() {
  drawPopulation(at("population"), app);
  drawMeasure(at("measure"), app);
  drawAreas(at("areas"), app);
  drawArrangement(at("arrange"), app);
  drawVariables();
  drawConditions(at("conditions"), app);
  fill(at("panel-summary"), summary(app));
  void app.learn().then((more) => more && drawConditions(at("conditions"), app));
}

function drawActions() {
  fill(
    at("actions"),
    page.account &&
      el(
        "button",
        { type: "button", class: "button", onclick: () => openSaving(app.title(), app.state) },
        t("builder.save.save_table"),
      ),
    el(
      "button",
      {
        type: "button",
        class: "button quiet",
        onclick: () => {
          const first = started();
          onQuestion(first.question, first.view);
        },
      },
      t("builder.panel.reset"),
    ),
  );
}

window.addEventListener("popstate", () => {
  const next = readAddress(window.location.search) ?? started();
  const same = JSON.stringify(next.question) === JSON.stringify(app.state.question);
  app.state.view = next.view;
  app.state.broken = next.broken ?? null;
  if (!same) app.state.question = next.question;
  drawPanel();
  fill(at("notices"));
  if (same && shown) drawResult();
  else void ask();
});

at("panel-toggle").addEventListener("click", () => {
  const open = at("panel-toggle").getAttribute("aria-expanded") !== "true";
  at("panel-toggle").setAttribute("aria-expanded", String(open));
  at("panel").classList.toggle("open", open);
});

if (!app.state.broken) remember(false);
drawActions();
drawSize(at("size"), null);
void ask();

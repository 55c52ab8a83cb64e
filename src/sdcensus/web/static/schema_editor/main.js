// @ts-check
// The page: what is shown, changes one after the other, keys, saving and closing.

import { announce } from "../shared/announce.js";
import { ApiError, getJson, postJson } from "../shared/api.js";
import { el, fill } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { button } from "./controls.js";
import { REST, filter, list, listedVariables, progress } from "./list.js";
import { panel } from "./panel.js";
import { restPanel } from "./rest.js";

/** @type {any} */
let state = null;
/** @type {any} */
let variable = null;
/** What was said last, above the panel. @type {Node | null} */
let notice = null;
let closed = false;
/** Changes are sent one after the other: each is made to what the one before it left. */
let queue = Promise.resolve();

const place = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

const tools = {
  change: (/** @type {object} */ what) => send("api/change", { variable: variable?.name ?? "", ...what }),
  redraw: draw,
  go,
  accept,
  neighbour,
};

/** The variable that the address names. */
function wanted() {
  return decodeURIComponent(window.location.hash.slice(1));
}

/** @param {string} name */
function go(name) {
  window.location.hash = encodeURIComponent(name);
}

/** @param {number} step @returns {string | null} */
function neighbour(step) {
  const names = [REST, ...listedVariables(state).map((line) => line.name)];
  const at = names.indexOf(wanted());
  if (at < 0) return names.length > 1 ? names[1] : null;
  return names[at + step] ?? null;
}

/** @param {boolean} next */
function accept(next) {
  if (!variable) {
    const first = neighbour(1);
    if (first !== null) go(first);
    return;
  }
  const { name } = variable;
  const after = neighbour(1);
  send("api/change", { variable: name, what: "accept" }).then((done) => {
    if (!done) return;
    announce(t("editor.said.accepted", { name }));
    if (state.looked_at === state.variables.length) say(t("editor.said.all_done"), "calm");
    else if (next && after !== null) go(after);
  });
}

/**
 * @param {string} url
 * @param {object} body
 * @returns {Promise<boolean>} whether it was done
 */
function send(url, body) {
  const work = queue.then(async () => {
    if (closed) return false;
    try {
      const answer = await postJson(url, { ...body, version: state.version, shown: wanted() });
      notice = null;
      take(answer.state, answer.variable ?? null);
      return true;
    } catch (problem) {
      await failed(problem);
      return false;
    }
  });
  queue = work.then(() => undefined);
  return work;
}

/** @param {any} problem */
async function failed(problem) {
  if (!(problem instanceof ApiError)) throw problem;
  if (problem.code === "stale") {
    await load();
    say(t("editor.said.stale"), "bad");
  } else if (problem.code === "changed") {
    say(`${t("editor.said.changed")}\n${problem.message}`, "bad");
  } else if (problem.code === "network") {
    say(t("editor.said.gone"), "bad");
  } else {
    say(problem.message || t("editor.said.problem"), "bad");
  }
}

/** @param {string} text @param {string} kind */
function say(text, kind) {
  notice = el("p", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" }, text);
  draw();
}

/** @param {any} nextState @param {any} nextVariable */
function take(nextState, nextVariable) {
  state = nextState;
  variable = nextVariable;
  draw();
}

async function load() {
  const name = wanted();
  state = await getJson("api/state");
  const known = state.variables.some((/** @type {any} */ line) => line.name === name);
  variable = known ? await getJson(`api/variable?name=${encodeURIComponent(name)}`) : null;
}

/** Draw everything anew; whoever types in a field goes on typing in it. */
function draw() {
  if (closed || state === null) return;
  const before = remembered();
  place("path").textContent = state.path;
  fill(place("progress"), progress(state));
  fill(place("actions"), actions());
  fill(place("list"), list(state, wanted(), tools));
  const shown = variable ? panel(variable, state, tools) : restPanel(state, tools);
  fill(place("panel"), notice, shown);
  document.title = `${variable ? variable.name : t("editor.title")} · ${state.path}`;
  recall(before);
}

function actions() {
  const mistakes = state.mistakes_count;
  return [
    mistakes > 0 ? el("span", { class: "badge bad" }, plural("editor.mistakes", mistakes)) : null,
    button(t("editor.do.undo"), undo, { focus: "undo", disabled: state.undo === 0 }),
    button(t("editor.do.redo"), redo, { focus: "redo", disabled: state.redo === 0 }),
    button(t("editor.do.close"), () => end(false), { focus: "close" }),
    button(t("editor.do.save"), () => save(false), { focus: "save", disabled: !state.dirty }),
    button(t("editor.do.save_close"), () => save(true), { focus: "save-close", kind: "primary" }),
  ];
}

function undo() {
  send("api/undo", {}).then((done) => done && announce(t("editor.said.undone")));
}

function redo() {
  send("api/redo", {});
}

/** @param {boolean} close */
function save(close) {
  queue = queue.then(async () => {
    if (state.mistakes_count > 0) {
      showMistakes();
      return;
    }
    try {
      const answer = await postJson("api/save", { version: state.version, close });
      if (close) {
        farewell(t("editor.said.closed"));
        return;
      }
      await load();
      const files = answer.written.join(", ");
      say(files ? t("editor.said.saved", { files }) : t("editor.said.nothing"), "calm");
      announce(t("editor.said.saved", { files }));
    } catch (problem) {
      await failed(problem);
    }
  });
}

function showMistakes() {
  const wrong = state.variables.filter((/** @type {any} */ line) => line.mistakes > 0);
  const links = wrong.map((/** @type {any} */ line) =>
    el("li", {}, el("a", { href: `#${encodeURIComponent(line.name)}` }, line.label || line.name)),
  );
  if (state.mistakes.length > 0) links.push(el("li", {}, el("a", { href: "#" }, t("editor.rest.title"))));
  notice = el("div", { class: "notice bad", role: "alert" }, t("editor.said.mistakes"), el("ul", {}, links));
  draw();
  window.scrollTo({ top: 0 });
}

/** @param {boolean} saved */
function end(saved) {
  queue = queue.then(async () => {
    const kept = state.dirty && !saved;
    try {
      await postJson("api/close", {});
      farewell(t(kept ? "editor.said.closed_kept" : "editor.said.closed"));
    } catch (problem) {
      await failed(problem);
    }
  });
}

/** @param {string} text */
function farewell(text) {
  closed = true;
  fill(place("actions"));
  fill(place("list"));
  fill(place("progress"));
  fill(place("panel"), el("h1", { tabindex: -1, id: "title" }, text));
  place("title").focus();
}

/** What must survive that the page is drawn anew. */
function remembered() {
  const active = /** @type {any} */ (document.activeElement);
  const focus = active?.dataset?.focus ?? null;
  const typed = focus && "value" in active && active.dataset.known !== undefined ? active : null;
  return {
    focus,
    value: typed && typed.value !== typed.dataset.known ? typed.value : null,
    start: typed?.selectionStart ?? null,
    end: typed?.selectionEnd ?? null,
    kept: new Set(
      [...document.querySelectorAll("details[data-keep][open]")].map((one) => one.getAttribute("data-keep")),
    ),
    scroll: place("list").scrollTop,
  };
}

/** @param {ReturnType<typeof remembered>} before */
function recall(before) {
  for (const one of document.querySelectorAll("details[data-keep]")) {
    if (before.kept.has(one.getAttribute("data-keep"))) /** @type {any} */ (one).open = true;
  }
  place("list").scrollTop = before.scroll;
  if (!before.focus) return;
  const again = /** @type {any} */ (document.querySelector(`[data-focus="${CSS.escape(before.focus)}"]`));
  if (!again) return;
  again.focus({ preventScroll: true });
  if (before.value !== null && "value" in again) again.value = before.value;
  if (before.start !== null && again.setSelectionRange) again.setSelectionRange(before.start, before.end);
}

document.addEventListener("keydown", (event) => {
  if (closed || state === null) return;
  const typing = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
  const control = event.ctrlKey || event.metaKey;
  if (control && event.key === "Enter") {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    accept(true);
  } else if (control && event.key.toLowerCase() === "s") {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    save(false);
  } else if (control && event.key.toLowerCase() === "z" && !typing) {
    if (event.shiftKey) redo();
    else undo();
  } else if (event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    const next = neighbour(event.key === "ArrowDown" ? 1 : -1);
    if (next !== null) go(next);
  } else {
    return;
  }
  event.preventDefault();
});

window.addEventListener("hashchange", () => {
  queue = queue.then(async () => {
    notice = null;
    filter.open = false; // where it takes the whole screen, the list makes room
    try {
      await load();
      draw();
      window.scrollTo({ top: 0 });
      document.getElementById("title")?.focus({ preventScroll: true });
      document.querySelector('#list a[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
    } catch (problem) {
      await failed(problem);
    }
  });
});

queue = queue.then(async () => {
  try {
    await load();
    if (state.note) {
      say(t(`editor.said.${state.note}`, { file: state.aside }), "");
    } else {
      draw();
    }
  } catch (problem) {
    await failed(problem);
  }
});

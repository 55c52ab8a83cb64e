// @ts-check
// Links and calls to copy.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { choice } from "./bar.js";

const WIDE = 56; // characters of a line that the card has room for

/**
 * A button that copies a text and says so.
 * @param {{key: string, label: string, quiet?: boolean}} button
 * @param {() => string} text
 */
export function copyButton({ key, label, quiet = false }, text) {
  const said = el("span", { class: "visually-hidden", role: "status" });
  const words = el("span", {}, label);
  let timer = 0;
  return el(
    "span",
    {},
    el(
      "button",
      {
        type: "button",
        class: quiet ? "button quiet" : "button",
        dataset: { focus: key },
        onclick: async () => {
          const done = await copy(text());
          const told = t(done ? "result.copy.done" : "result.copy.failed");
          words.textContent = told;
          said.textContent = told;
          window.clearTimeout(timer);
          timer = window.setTimeout(() => {
            words.textContent = label;
            said.textContent = "";
          }, 2500);
        },
      },
      words,
    ),
    said,
  );
}

/** @param {string} text @returns {Promise<boolean>} */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Servers of an office without TLS have no clipboard; the old way works there.
    const before = document.activeElement;
    const area = el("textarea", { class: "r-offstage", props: { value: text } });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (before instanceof HTMLElement) before.focus();
    return done;
  }
}

/**
 * The call of the API in several languages of programs.
 * @param {any} question
 * @param {string} link path of the API call
 * @param {{chosen: string, onChoice: (name: string) => void}} state
 */
export function callsOf(question, link, state) {
  const origin = window.location.origin;
  const url = new URL(link, origin).href;
  const calls = {
    curl: () => curlCall(origin, question),
    python: () => pythonCall(origin, question),
    r: () => rCall(url),
    link: () => url,
  };
  const code = el("code");
  const show = (/** @type {string} */ name) => {
    state.onChoice(name);
    code.textContent = calls[/** @type {keyof typeof calls} */ (name)]();
  };
  const options = Object.keys(calls).map((name) => ({ value: name, label: t(`result.call.${name}`) }));
  const first = state.chosen in calls ? state.chosen : "curl";
  const card = el(
    "section",
    { class: "card", "aria-labelledby": "result-call-title" },
    el("h3", { id: "result-call-title" }, t("result.call.title")),
    el(
      "div",
      { class: "r-call-bar" },
      choice("call", t("result.call.language"), options, first, show),
      copyButton({ key: "copy-call", label: t("result.call.copy") }, () => code.textContent ?? ""),
    ),
    el("pre", { class: "r-code", tabindex: 0, role: "group", "aria-label": t("result.call.title") }, code),
  );
  show(first);
  return card;
}

/** @param {string} origin @param {any} question */
function curlCall(origin, question) {
  const members = Object.entries(question).map(([name, one]) => `${literal(name)}:${wrapped(one)}`);
  const body = `{${members.join(",\n       ")}}`.replace(/'/g, "'\\''");
  return `curl ${origin}/api/v1/tables \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}

/** @param {string} origin @param {any} question */
function pythonCall(origin, question) {
  const given = [
    ...(question.by ?? []).map((/** @type {string} */ one) => literal(one)),
    `of=${literal(question.of ?? "persons")}`,
    ...["measure", "where", "codes"]
      .filter((name) => question[name])
      .map((name) => `${name}=${literal(question[name])}`),
    ...(question.groups ? [`groups=${literal(byLabel(question.groups))}`] : []),
  ];
  const line = `table = census.table(${given.join(", ")})`;
  const call = line.length > WIDE ? `table = census.table(\n    ${given.join(",\n    ")},\n)` : line;
  return [
    "import sdcensus as sc",
    "",
    `census = sc.connect(${literal(origin)})`,
    call,
    "table.to_pandas()",
  ].join("\n");
}

/** Groups as the client takes them: codes by the name of their group. @param {any} groups */
function byLabel(groups) {
  const named = (/** @type {any[]} */ list) => Object.fromEntries(list.map((one) => [one.label, one.codes]));
  return Object.fromEntries(Object.entries(groups).map(([name, list]) => [name, named(list)]));
}

/** @param {string} url */
function rCall(url) {
  return [
    "library(httr2)",
    "library(rjstat)",
    "",
    `answer <- request(${literal(url)}) |>`,
    "  req_perform()",
    "table <- fromJSONstat(resp_body_string(answer))",
  ].join("\n");
}

/** A value of a question, a list over several lines where one is too long. */
function wrapped(/** @type {unknown} */ value) {
  const line = literal(value);
  if (!Array.isArray(value) || line.length <= WIDE - 20) return line;
  return `[${value.map(literal).join(",\n             ")}]`;
}

/** A value in Python or R: JSON writes texts, lists and objects as Python does. */
function literal(/** @type {unknown} */ value) {
  return JSON.stringify(value);
}

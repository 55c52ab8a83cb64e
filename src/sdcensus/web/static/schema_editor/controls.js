// @ts-check
// Fields that say when somebody is done with them, and parts that all panels share.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";

/** @type {{roles: string[], entities: string[]}} */
export const offers = JSON.parse(document.getElementById("offers")?.textContent || "{}");

/**
 * A field for text. What was typed is committed when the field is left or Enter is pressed; a field
 * that is drawn anew while somebody types keeps what was typed.
 * @param {{label: string, value: string, focus: string, commit: (value: string) => void,
 *   hidden?: boolean, type?: string, spellcheck?: boolean, lang?: string}} options
 */
export function field(options) {
  let known = options.value;
  const input = el("input", {
    class: "field",
    type: options.type ?? "text",
    value: options.value,
    autocomplete: "off",
    spellcheck: String(options.spellcheck ?? false),
    lang: options.lang,
    "aria-label": options.hidden ? options.label : null,
    dataset: { focus: options.focus, known },
  });
  const commit = () => {
    if (input.value === known) return;
    known = input.value;
    options.commit(input.value);
  };
  input.addEventListener("change", commit);
  input.addEventListener("blur", commit);
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.ctrlKey) commit();
  });
  return options.hidden ? input : el("label", { class: "stacked" }, options.label, input);
}

/**
 * A choice of one.
 * @param {{label: string, value: string, choices: [string, string][], focus: string,
 *   commit?: (value: string) => void, hidden?: boolean, broad?: boolean}} options
 */
export function choice(options) {
  const select = el(
    "select",
    {
      class: "field",
      "aria-label": options.hidden ? options.label : null,
      dataset: { focus: options.focus },
      onchange: () => options.commit?.(select.value),
    },
    options.choices.map(([value, text]) =>
      el("option", { value, selected: value === options.value }, text),
    ),
  );
  const kind = options.broad ? "stacked broad" : "stacked";
  return options.hidden ? select : el("label", { class: kind }, options.label, select);
}

/**
 * A field for each language; what is committed is the text of one of them.
 * @param {string} label
 * @param {Record<string, string>} values
 * @param {string[]} languages
 * @param {string} focus
 * @param {(values: Record<string, string>) => void} commit
 */
export function spoken(label, values, languages, focus, commit) {
  const all = [...new Set([...languages, ...Object.keys(values)])];
  return all.map((language) =>
    field({
      label: all.length > 1 ? t("editor.languages", { text: label, language }) : label,
      value: values[language] ?? "",
      focus: `${focus}-${language}`,
      lang: language,
      spellcheck: true,
      commit: (text) => commit({ [language]: text }),
    }),
  );
}

/**
 * @param {string} text
 * @param {() => void} run
 * @param {{focus: string, kind?: string, disabled?: boolean, label?: string}} options
 */
export function button(text, run, options) {
  return el(
    "button",
    {
      type: "button",
      class: `button ${options.kind ?? ""}`,
      disabled: options.disabled,
      "aria-label": options.label,
      dataset: { focus: options.focus },
      onclick: run,
    },
    text,
  );
}

/**
 * A part of a panel with its heading.
 * @param {string} title
 * @param {...any} children
 */
export function card(title, ...children) {
  return el("section", { class: "card" }, el("h2", {}, title), children);
}

/** @param {string} text "a, b" @returns {string[]} */
export function listed(text) {
  return text.split(/[,;]/).map((part) => part.trim()).filter(Boolean);
}

// @ts-check
// Groups of codes that a reader makes under names of his own.

import { announce } from "../shared/announce.js";
import { el, fill } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { icon } from "./icons.js";

const LONGEST = 80;

/**
 * @typedef {import("./state.js").OwnGroup} OwnGroup
 */

/**
 * The groups of a question, with the codes that stand for themselves taken apart: the server
 * shows groups only, so that codes beside them are groups of one, under their own label.
 * @param {OwnGroup[]} groups
 * @param {Map<string, string>} labels
 * @returns {{groups: OwnGroup[], others: boolean}}
 */
export function withoutSingles(groups, labels) {
  const alone = (one) => one.codes.length === 1 && labels.get(one.codes[0]) === one.label;
  return { groups: groups.filter((one) => !alone(one)), others: groups.some(alone) };
}

/**
 * @param {OwnGroup[]} groups
 * @param {Map<string, string>} labels all codes, in their order
 * @returns {OwnGroup[]}
 */
export function withSingles(groups, labels) {
  const inside = new Set(groups.flatMap((one) => one.codes));
  const taken = new Set(groups.map((one) => one.label));
  const made = [...groups];
  for (const [code, label] of labels) {
    if (inside.has(code)) continue;
    const name = [label.slice(0, LONGEST), `${label.slice(0, LONGEST - 20)} (${code})`].find(
      (one) => !taken.has(one),
    );
    if (!name) continue;
    taken.add(name);
    made.push({ label: name, codes: [code] });
  }
  return made;
}

/**
 * @param {{chosen: () => string[], clear: () => void, labels: () => Map<string, string>,
 *   labelOf: (code: string) => string, onChange: () => void}} options
 */
export function groupMaker({ chosen, clear, labels, labelOf, onChange }) {
  /** @type {OwnGroup[]} */
  let groups = [];
  const problem = el("p", { class: "small bad-text", role: "alert" });
  const name = el("input", {
    class: "field",
    maxlength: LONGEST,
    "aria-label": t("builder.groups.name"),
    placeholder: t("builder.groups.name"),
    autocomplete: "off",
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      make();
    },
  });
  const button = el("button", { type: "button", class: "button", onclick: () => make() }, t("builder.groups.make"));
  const list = el("ul", { class: "group-list" });
  const others = el("input", { type: "checkbox", onchange: () => onChange() });
  const node = el(
    "div",
    { class: "group-maker" },
    el("p", { class: "small soft" }, t("builder.groups.help")),
    el("div", { class: "group-new" }, name, button),
    problem,
    list,
    el("label", { class: "check" }, others, el("span", {}, t("builder.groups.others"))),
  );

  function make() {
    const label = name.value.trim();
    const codes = chosen();
    const trouble =
      (codes.length === 0 && t("builder.groups.need_codes")) ||
      (label === "" && t("builder.groups.need_name")) ||
      (groups.some((one) => one.label === label) && t("builder.groups.same_name"));
    problem.textContent = trouble || "";
    if (trouble) {
      if (codes.length > 0) name.focus();
      return;
    }
    groups = [...groups, { label, codes }];
    name.value = "";
    clear();
    draw();
    onChange();
    announce(plural("builder.groups.made", codes.length, { label }));
    name.focus();
  }

  function draw() {
    fill(
      list,
      groups.map((one) =>
        el(
          "li",
          {},
          el(
            "span",
            {},
            el("strong", {}, one.label),
            el("small", { class: "soft" }, one.codes.map(labelOf).join(" + ")),
          ),
          el(
            "button",
            {
              type: "button",
              class: "icon-button",
              "aria-label": t("builder.groups.remove", { label: one.label }),
              onclick: () => {
                groups = groups.filter((other) => other !== one);
                draw();
                onChange();
                name.focus();
              },
            },
            icon("close"),
          ),
        ),
      ),
    );
  }

  return {
    node,
    groupOf: (code) => groups.find((one) => one.codes.includes(code))?.label ?? "",
    /** @param {OwnGroup[]} given @param {boolean} withOthers */
    fill(given, withOthers) {
      groups = given;
      others.checked = withOthers;
      draw();
    },
    /** @returns {OwnGroup[]} */
    value: () => (groups.length && others.checked ? withSingles(groups, labels()) : groups),
  };
}

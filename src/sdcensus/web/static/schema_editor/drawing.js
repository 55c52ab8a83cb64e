// @ts-check
// Bars and histograms of true counts.

import { el, svg } from "../shared/dom.js";
import { formatNumber, formatPercent } from "../shared/numbers.js";
import { language, plural, t } from "../shared/texts.js";
import { button } from "./controls.js";

const WIDTH = 640;
const HEIGHT = 140;

/** @param {number} n */
export const number = (n) => formatNumber(n, language, 2);

/**
 * A bar beside a number.
 * @param {number | null} count
 * @param {number} most
 */
export function bar(count, most) {
  if (count === null) return el("td", { class: "count" });
  const share = most > 0 ? count / most : 0;
  return el(
    "td",
    { class: "count" },
    el("span", { class: "bar", "aria-hidden": true }, el("i", { style: { width: `${100 * share}%` } })),
    el("span", { class: "figure" }, number(count)),
  );
}

/** @param {{lower: number, upper: number, count: number}[]} bars */
export function histogram(bars) {
  if (bars.length === 0) return null;
  const most = Math.max(...bars.map((one) => one.count), 1);
  const wide = WIDTH / bars.length;
  const low = bars[0].lower;
  const high = bars[bars.length - 1].upper;
  const drawn = bars.map((one, at) => {
    const tall = one.count === 0 ? 0 : Math.max((HEIGHT * one.count) / most, 1);
    const values = { low: number(one.lower), high: number(one.upper), n: number(one.count) };
    return svg(
      "rect",
      {
        x: at * wide,
        y: HEIGHT - tall,
        width: Math.max(wide - 1, 0.5),
        height: tall,
      },
      svg("title", {}, t(one.lower === one.upper ? "editor.counts.one_bar" : "editor.counts.bar", values)),
    );
  });
  const label = t("editor.counts.chart", { low: number(low), high: number(high), most: number(most) });
  return el(
    "figure",
    { class: "histogram" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, preserveAspectRatio: "none" },
      drawn,
    ),
    el("figcaption", {}, el("span", {}, number(low)), el("span", {}, number(high))),
  );
}

/**
 * What is known about a column: how many records, how many empty, what the schema does not know.
 * @param {any} variable
 * @param {(change: object) => void} change
 */
export function distribution(variable, change) {
  const shown = variable.distribution;
  if (!variable.in_file || !shown) {
    const text = variable.problem
      ? t("editor.counts.no_file", { problem: variable.problem })
      : t("editor.counts.no_column");
    return el("p", { class: "soft" }, text);
  }
  const share = shown.rows > 0 ? formatPercent(shown.empty / shown.rows, language) : "";
  const facts = [
    plural("editor.rows", shown.rows),
    t("editor.counts.empty", { n: shown.empty, share }),
    shown.distinct === null ? t("editor.counts.many") : plural("editor.counts.distinct", shown.distinct),
  ];
  const parts = [el("p", {}, facts.join(" · "))];
  if (shown.private) {
    const lengths = { low: shown.shortest, high: shown.longest };
    const texts = [t("editor.counts.private")];
    if (shown.longest) texts.push(t("editor.counts.lengths", lengths));
    parts.push(el("p", { class: "soft" }, texts.join(" ")));
    return parts;
  }
  if (shown.bars) parts.push(histogram(shown.bars));
  const missing = (shown.missing ?? []).map((/** @type {any} */ one) => `${one.value}: ${number(one.count)}`);
  if (missing.length) parts.push(el("p", { class: "small" }, missing.join(" · ")));
  if (shown.hidden > 0) {
    parts.push(el("p", { class: "soft small" }, t("editor.counts.hidden", { n: shown.hidden, rows: shown.hidden_rows })));
  }
  if (shown.strange_values > 0) parts.push(strangers(variable, shown, change));
  return parts;
}

/**
 * Values that stand in the file and in no list.
 * @param {any} variable
 * @param {any} shown
 * @param {(change: object) => void} change
 */
function strangers(variable, shown, change) {
  const rows = shown.strange.slice(0, 20);
  const most = Math.max(...rows.map((/** @type {any} */ one) => one.count), 1);
  const ways = [
    ...(variable.form === "codes" ? [["add_codes", t("editor.counts.strange_add")]] : []),
    ["not_stated", t("editor.kinds.not_stated")],
    ["not_applicable", t("editor.kinds.not_applicable")],
  ];
  /** @param {string} way @param {string[]} codes */
  const run = (way, codes) =>
    change(way === "add_codes" ? { what: way, codes } : { what: "kind", codes, value: way });
  const values = { n: shown.strange_values, rows: shown.strange_rows };
  return el(
    "div",
    { class: "notice strangers" },
    el("h3", {}, t("editor.counts.strange")),
    el("p", {}, t("editor.counts.strange_more", values)),
    variable.form === "codes" && shown.strange.length > 1
      ? button(
          `${t("editor.counts.strange_add")} (${number(shown.strange.length)})`,
          () => run("add_codes", shown.strange.map((/** @type {any} */ one) => one.value)),
          { focus: "strange-all" },
        )
      : null,
    el(
      "table",
      { class: "lines" },
      el("caption", { class: "visually-hidden" }, t("editor.counts.strange")),
      el(
        "tbody",
        {},
        rows.map((/** @type {any} */ one) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, one.value),
            bar(one.count, most),
            el(
              "td",
              {},
              ways.map(([way, text]) =>
                button(text, () => run(way, [one.value]), {
                  kind: "quiet",
                  focus: `strange-${way}-${one.value}`,
                  label: `${one.value}: ${text}`,
                }),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

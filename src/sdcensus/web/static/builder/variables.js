// @ts-check
// Finding a variable: by words, by topic, with its definition at hand.

import { el, fill } from "../shared/dom.js";
import { folded } from "../shared/folding.js";
import { plural, t } from "../shared/texts.js";
import { keepFocus } from "./dialog.js";
import { icon } from "./icons.js";
import * as schema from "./schema.js";
import { readAxis } from "./state.js";

const MOST_CODES = 60;

/**
 * @param {HTMLElement} root
 * @param {any} app
 * @returns {() => void} draws again what depends on the state
 */
export function variableFinder(root, app) {
  const search = el("input", {
    type: "search",
    class: "field",
    autocomplete: "off",
    "aria-controls": "variable-list",
    oninput: () => draw(),
  });
  const status = el("p", { class: "visually-hidden", role: "status" });
  const full = el("p", { class: "small soft", hidden: true });
  const list = el("div", { id: "variable-list", class: "variable-list" });
  /** @type {Set<string>} */
  const openTopics = new Set();
  /** @type {Set<string>} */
  const openDefinitions = new Set();
  search.hidden = true; // until there is something to search
  fill(root, search, status, full, list);

  function draw() {
    const all = [...app.variables.values()];
    search.hidden = all.length === 0;
    const text = t("builder.variables.search", { n: all.length });
    search.setAttribute("placeholder", text);
    search.setAttribute("aria-label", text);
    const used = new Set(app.state.question.by.map((one) => readAxis(one).variable));
    full.hidden = !app.isFull();
    full.textContent = t("builder.variables.full", { n: app.limits()?.variables ?? 0 });
    const words = folded(search.value).split(/\s+/).filter(Boolean);
    const found = matching(all, words);
    status.textContent = words.length ? plural("builder.variables.found", found.length) : "";
    keepFocus(list, () => {
      if (words.length) {
        fill(
          list,
          found.length === 0
            ? el("p", { class: "soft small" }, t("builder.variables.none"))
            : el("ul", {}, found.map((one) => line(one, used))),
        );
      } else {
        fill(list, topics(all).map(([topic, members]) => section(topic, members, used)));
      }
    });
  }

  function section(topic, members, used) {
    const node = el(
      "details",
      { class: "topic", props: { open: openTopics.has(topic) } },
      el(
        "summary",
        { "data-focus": `topic-${topic}` },
        el("span", {}, topic),
        el("span", { class: "count" }, members.length),
      ),
    );
    const list = el("ul", {});
    node.append(list);
    const build = () => fill(list, node.open ? members.map((one) => line(one, used)) : []);
    node.addEventListener("toggle", () => {
      if (node.open === openTopics.has(topic)) return;
      node.open ? openTopics.add(topic) : openTopics.delete(topic);
      build();
    });
    build();
    return node;
  }

  function line(one, used) {
    const taken = used.has(one.name);
    const definition = el("div", { class: "definition", id: `definition-${one.name}` });
    const about = el(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": t("builder.variables.about", { label: one.label }),
        "aria-expanded": openDefinitions.has(one.name),
        "aria-controls": definition.id,
        "data-focus": `about-${one.name}`,
        onclick: () => {
          const now = !openDefinitions.has(one.name);
          now ? openDefinitions.add(one.name) : openDefinitions.delete(one.name);
          about.setAttribute("aria-expanded", String(now));
          definition.hidden = !now;
          if (now) void define(app, one, definition);
        },
      },
      icon("info"),
    );
    definition.hidden = !openDefinitions.has(one.name);
    if (!definition.hidden) void define(app, one, definition);
    const off = taken || app.isFull();
    return el(
      "li",
      { class: "variable" },
      el(
        "div",
        { class: "variable-line" },
        el(
          "button",
          {
            type: "button",
            class: "add",
            "aria-disabled": off,
            "data-focus": `add-${one.name}`,
            onclick: () => !off && app.addAxis(one),
          },
          taken ? null : icon("add"),
          el("span", { class: "visually-hidden" }, taken ? "" : t("builder.variables.add")),
          el("span", {}, one.label),
          taken && el("small", {}, t("builder.variables.used")),
        ),
        about,
      ),
      definition,
    );
  }

  return draw;
}

/**
 * @param {any} app
 * @param {import("./schema.js").Variable} one
 * @param {HTMLElement} place
 */
async function define(app, one, place) {
  const words = [
    el("p", {}, one.description || t("builder.variables.no_description")),
    one.levels.length > 1 &&
      el(
        "p",
        {},
        t("builder.variables.levels"),
        " ",
        one.levels
          .map((level) =>
            t("builder.codes.level_size", { n: schema.sizeOf(level), level: schema.levelLabel(one, level) }),
          )
          .join("; "),
      ),
  ];
  fill(place, words);
  const codes = await schema.codes(app.state.question.of, one, one.default_level).catch(() => []);
  if (codes.length === 0) return;
  fill(
    place,
    words,
    el(
      "p",
      {},
      t("builder.variables.categories"),
      " ",
      codes.slice(0, MOST_CODES).map((code) => code.label).join("; "),
      codes.length > MOST_CODES ? "; …" : "",
    ),
  );
}

/**
 * Variables with all these words somewhere: those with them in the label first.
 * @param {import("./schema.js").Variable[]} all
 * @param {string[]} words
 */
function matching(all, words) {
  const rank = (one) => {
    const label = folded(one.label);
    if (words.every((word) => label.includes(word))) return label.startsWith(words[0] ?? "") ? 3 : 2;
    const rest = folded(`${one.label} ${one.name} ${one.topic} ${one.description ?? ""}`);
    return words.every((word) => rest.includes(word)) ? 1 : 0;
  };
  return all
    .map((one) => ({ one, rank: rank(one) }))
    .filter((entry) => entry.rank > 0)
    .sort((left, right) => right.rank - left.rank)
    .map((entry) => entry.one);
}

/** @param {import("./schema.js").Variable[]} all */
function topics(all) {
  /** @type {Map<string, import("./schema.js").Variable[]>} */
  const made = new Map();
  for (const one of all) {
    const topic = one.topic || t("builder.variables.no_topic");
    made.set(topic, [...(made.get(topic) ?? []), one]);
  }
  return [...made];
}

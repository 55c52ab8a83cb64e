// @ts-check
// Keeping a table under a name, for those with an account.

import { postJson } from "../shared/api.js";
import { announce } from "../shared/announce.js";
import { el, fill } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { labelled, openSheet } from "./dialog.js";

const LONGEST = 200;

/**
 * @param {string} title what the table is called if the reader has no better name
 * @param {{question: object, view: object}} state
 */
export function openSaving(title, state) {
  let saved = false;
  const onClose = () => saved && announce(t("builder.save.done"));
  const sheet = openSheet(t("builder.save.title"), { small: true, onClose });
  const name = el("input", { class: "field", required: true, maxlength: LONGEST, value: title.slice(0, LONGEST) });
  const problem = el("p", { class: "small bad-text", role: "alert" });
  const save = el("button", { type: "submit", class: "button primary", form: "saving" }, t("builder.save.save"));
  const form = el(
    "form",
    {
      id: "saving",
      onsubmit: async (event) => {
        event.preventDefault();
        save.disabled = true;
        try {
          await postJson("/api/v1/saved", { title: name.value.trim(), question: state.question, view: state.view });
          saved = true;
          sheet.close();
        } catch (error) {
          problem.textContent = error.message || t("builder.problem.network");
          save.disabled = false;
        }
      },
    },
    labelled(t("builder.save.name"), name),
    problem,
    el("p", { class: "small soft" }, t("builder.save.help")),
  );
  fill(sheet.body, form);
  fill(
    sheet.foot,
    el("button", { type: "button", class: "button", onclick: sheet.close }, t("builder.cancel")),
    save,
  );
  name.select();
}

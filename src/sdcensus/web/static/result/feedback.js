// @ts-check
// A place to tell the office something about the table.

import { postJson } from "../shared/api.js";
import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { failure } from "./downloads.js";

/**
 * The form. It stays in the page while tables come and go, so that nothing typed is lost.
 * @param {() => any} question the question that is on the page when it is sent
 * @returns {HTMLElement}
 */
export function feedbackForm(question) {
  const text = el("textarea", { id: "result-feedback-text", rows: 4, maxlength: 4000, required: true });
  const contact = el("input", {
    id: "result-feedback-contact",
    type: "text",
    maxlength: 200,
    autocomplete: "email",
    "aria-describedby": "result-feedback-contact-about",
  });
  const state = el("p", { class: "r-feedback-state", role: "status" });
  const send = el("button", { type: "submit", class: "button" }, t("result.feedback.send"));
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const words = text.value.trim();
    state.classList.remove("r-failed");
    if (!words) {
      state.classList.add("r-failed");
      state.textContent = t("result.feedback.empty");
      text.focus();
      return;
    }
    send.disabled = true;
    state.textContent = t("result.feedback.sending");
    try {
      const body = { text: words, contact: contact.value.trim(), question: question() };
      await postJson("/api/v1/feedback", body);
      state.textContent = t("result.feedback.done");
      text.value = "";
    } catch (problem) {
      state.classList.add("r-failed");
      state.textContent = `${t("result.feedback.failed")} ${failure(problem)}`;
    } finally {
      send.disabled = false;
    }
  };
  return el(
    "details",
    { class: "card r-feedback", dataset: { keep: "feedback" } },
    el("summary", {}, el("h3", {}, t("result.feedback.title"))),
    el("p", { class: "r-soft" }, t("result.feedback.lead")),
    el(
      "form",
      { onsubmit: submit, novalidate: true },
      el("label", { for: "result-feedback-text" }, t("result.feedback.text")),
      text,
      el("label", { for: "result-feedback-contact" }, t("result.feedback.contact")),
      contact,
      el("small", { id: "result-feedback-contact-about" }, t("result.feedback.contact_about")),
      send,
      state,
    ),
  );
}

// @ts-check
// A field for programs: line numbers beside it, and a mistake shown at its character.

import { el, fill } from "../shared/dom.js";

/**
 * Where a character stands, counted from 1 as people do.
 * @param {string} text
 * @param {number} at
 * @returns {{line: number, column: number, words: string}} words: the whole line
 */
export function placeOf(text, at) {
  const until = Math.max(0, Math.min(at, text.length));
  const before = text.slice(0, until).split("\n");
  const line = before.length;
  return {
    line,
    column: (before.at(-1) ?? "").length + 1,
    words: text.split("\n")[line - 1] ?? "",
  };
}

/**
 * The line with a caret below the character; tabs stay tabs, so that both lines agree.
 * @param {string} words
 * @param {number} column
 */
export function withCaret(words, column) {
  const before = words.slice(0, column - 1).replace(/[^\t]/g, " ");
  return `${words}\n${before}^`;
}

/**
 * Where the server's offset, which counts characters, stands in a text of JavaScript, which counts
 * halves of rare ones.
 * @param {string} text
 * @param {number} characters
 */
export function offsetOf(text, characters) {
  let at = 0;
  let left = characters;
  for (const one of text) {
    if (left-- <= 0) break;
    at += one.length;
  }
  return at;
}

export class Editor {
  /**
   * @param {HTMLTextAreaElement} field
   * @param {HTMLElement} numbers
   * @param {HTMLElement} box
   */
  constructor(field, numbers, box) {
    this.field = field;
    this.numbers = numbers;
    this.box = box;
    this.wrongLine = 0;
    field.addEventListener("input", () => {
      this.clearMistake();
      this.number();
    });
    field.addEventListener("scroll", () => {
      numbers.scrollTop = field.scrollTop;
    });
    field.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => {
      numbers.style.setProperty("height", `${field.offsetHeight}px`);
    }).observe(field);
    this.leaving = false;
    this.number();
  }

  get text() {
    return this.field.value;
  }

  /** @param {string} text */
  set text(text) {
    this.field.value = text;
    this.clearMistake();
    this.number();
  }

  /**
   * Tab indents; after Escape it leaves the field, as it does everywhere else.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.key === "Escape") {
      this.leaving = true;
      return;
    }
    if (event.key === "Tab" && !this.leaving && !event.shiftKey) {
      event.preventDefault();
      this.field.setRangeText("    ", this.field.selectionStart, this.field.selectionEnd, "end");
      this.field.dispatchEvent(new Event("input"));
    }
    if (event.key !== "Shift") this.leaving = false;
  }

  number() {
    const lines = this.text.split("\n").length;
    const parts = [];
    for (let line = 1; line <= lines; line += 1) {
      parts.push(line === this.wrongLine
        ? el("span", { class: "wrong-line" }, line)
        : String(line), "\n");
    }
    fill(this.numbers, parts);
    this.numbers.scrollTop = this.field.scrollTop;
  }

  clearMistake() {
    if (!this.wrongLine) return;
    this.wrongLine = 0;
    this.box.classList.remove("wrong");
    this.field.removeAttribute("aria-invalid");
  }

  /** @param {number} at */
  showMistake(at) {
    this.wrongLine = placeOf(this.text, at).line;
    this.box.classList.add("wrong");
    this.field.setAttribute("aria-invalid", "true");
    this.number();
  }

  /** Put the cursor at a character and bring it into view. @param {number} at */
  goTo(at) {
    this.field.focus();
    this.field.setSelectionRange(at, Math.min(at + 1, this.text.length));
    const line = placeOf(this.text, at).line;
    const height = parseFloat(getComputedStyle(this.field).lineHeight) || 21;
    this.field.scrollTop = Math.max(0, (line - 3) * height);
  }
}

// @ts-check
// Files of the table. Links work as they are; with this script, slow ones show how far they are.

import { ApiError } from "../shared/api.js";
import { el, fill } from "../shared/dom.js";
import { formatNumber, formatPercent } from "../shared/numbers.js";
import { known, t } from "../shared/texts.js";
import { waitText } from "../shared/times.js";
import { finished } from "./jobs.js";
import { menu } from "./menu.js";
import { waits } from "./refusal.js";

/**
 * What can be downloaded: a format, or an archive of it where it has several files.
 * @typedef {{name: string, label: string, about: string, format: string, ending: string}} Download
 */

/**
 * The formats that the server has, from the block of JSON that it wrote into the page.
 * @param {string[]} [forms] what the table can be had as: formats for maps need areas
 * @returns {Download[]}
 */
export function downloadFormats(forms) {
  /** @type {{name: string, label: string, about: string, endings: string[]}[]} */
  const formats = JSON.parse(document.getElementById("formats")?.textContent || "[]");
  return formats.filter((one) => forms?.includes(one.name) ?? true).map(({ name, label, about, endings }) =>
    endings.length > 1
      ? { name, label, about, format: `${name}-zip`, ending: ".zip" }
      : { name, label, about, format: name, ending: endings[0] },
  );
}

/**
 * @param {{apiLink: string, language: string, cells: number, shares: boolean, forms?: string[]}} of
 * @returns {HTMLElement}
 */
export function downloadsOf(of) {
  return menu({ key: "download", label: t("result.download.button"), main: true }, () => {
    const state = el("p", { class: "r-download-state", role: "status" });
    return el(
      "div",
      {},
      el("p", { class: "r-lead" }, leadOf(of)),
      el("ul", { class: "r-formats" }, downloadFormats(of.forms).map((one) => line(one, of, state))),
      state,
    );
  });
}

/**
 * What the files hold, where a reader could think that they are the page.
 * @param {{cells: number, shares: boolean}} of
 */
function leadOf(of) {
  const words = [t("result.download.lead", { cells: of.cells }), t("result.download.no_arrangement")];
  if (of.shares) words.push(t("result.download.no_percentages"));
  return words.join(" ");
}

/**
 * @param {string} apiLink
 * @param {string} format
 * @param {string} language
 */
export function linkTo(apiLink, format, language) {
  const url = new URL(apiLink, window.location.href);
  url.searchParams.set("format", format);
  url.searchParams.set("lang", language);
  return url.origin === window.location.origin ? url.pathname + url.search : url.href;
}

/**
 * @param {Download} one
 * @param {{apiLink: string, language: string}} of
 * @param {HTMLElement} state
 */
function line(one, of, state) {
  const href = linkTo(of.apiLink, one.format, of.language);
  const link = el(
    "a",
    {
      href,
      download: true,
      dataset: { format: one.format },
      "aria-describedby": `result-format-${one.name}`,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        if (link.getAttribute("aria-busy") === "true") return;
        link.setAttribute("aria-busy", "true");
        fetchFile(href, one, state, of.language).finally(() => link.removeAttribute("aria-busy"));
      },
    },
    one.label,
  );
  return el("li", {}, link, el("span", { id: `result-format-${one.name}` }, one.about));
}

/**
 * @param {string} href
 * @param {Download} one
 * @param {HTMLElement} state
 * @param {string} language
 */
async function fetchFile(href, one, state, language) {
  state.className = "r-download-state";
  state.textContent = t("result.download.working", { format: one.label });
  try {
    let response = await answer(href);
    if (response.status === 202) {
      const { job } = await response.json();
      const result = await finished(job, { onProgress: (now) => showProgress(state, now, language) });
      response = await answer(result);
    }
    const content = await response.blob();
    const name = nameOf(response, `table${one.ending}`);
    save(content, name);
    fill(state, t("result.download.done", { name, size: sizeText(content.size, language) }));
  } catch (problem) {
    state.classList.add("r-failed");
    fill(state, failure(problem));
  }
}

/** @param {string} href */
async function answer(href) {
  let response;
  try {
    response = await fetch(href, { credentials: "same-origin" });
  } catch {
    throw new ApiError({ code: "network" });
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  const wait = Number(response.headers.get("Retry-After"));
  const error = body?.error ?? { code: "internal" };
  throw new ApiError({ ...error, status: response.status }, wait > 0 ? wait : null);
}

/**
 * What went wrong, in words.
 * @param {any} problem
 */
export function failure(problem) {
  const code = String(problem?.code ?? "internal").replace(/-/g, "_");
  const said = waits(problem ?? {}) ? "" : problem?.message;
  const text =
    said || t(`result.refusal.${known(`result.refusal.${code}`) ? code : "other"}`);
  const wait = problem?.retryAfter;
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  return wait ? `${sentence} ${waitText(wait)}` : sentence;
}

/** @param {HTMLElement} state @param {import("./jobs.js").Job} job @param {string} language */
function showProgress(state, job, language) {
  if (job.status !== "running" || job.progress === null) {
    fill(state, t("result.download.waiting"));
    return;
  }
  const share = formatPercent(job.progress, language, 0);
  fill(
    state,
    t("result.download.running", { share }),
    " ",
    el("progress", { max: 1, value: job.progress, "aria-label": t("result.download.running", { share }) }),
  );
}

/** @param {Response} response @param {string} otherwise */
function nameOf(response, otherwise) {
  const said = response.headers.get("Content-Disposition") ?? "";
  const plain = /filename="?([^";]+)"?/i.exec(said);
  return plain ? plain[1] : otherwise;
}

/** @param {Blob} content @param {string} name */
function save(content, name) {
  const url = URL.createObjectURL(content);
  const link = el("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** @param {number} bytes @param {string} language */
function sizeText(bytes, language) {
  if (bytes < 1_000_000) {
    return t("result.download.kilobytes", { n: Math.max(1, Math.round(bytes / 1000)) });
  }
  return t("result.download.megabytes", { n: formatNumber(bytes / 1_000_000, language, 1) });
}

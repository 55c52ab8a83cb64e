// @ts-check
// Requests to this server: language, protection against forged requests, one shape of errors.

import { language } from "./texts.js";

/**
 * @typedef {{code: string, text: string, variables: string[], values: object}} Reason
 * @typedef {{kinds: string[], text: string, question: object, available: number, areas: number}}
 *   Remedy
 */

/** What went wrong with a request, in the words of the server. */
export class ApiError extends Error {
  /**
   * @param {{status?: number, code?: string, message?: string, place?: string | null,
   *   at?: number | null, reasons?: Reason[], remedies?: Remedy[], request?: string | null}} error
   * @param {number | null} [retryAfter] seconds
   */
  constructor(error, retryAfter = null) {
    super(error.message || "");
    this.name = "ApiError";
    this.status = error.status ?? 0;
    this.code = error.code ?? "network";
    this.place = error.place ?? null;
    this.at = error.at ?? null;
    this.reasons = error.reasons ?? [];
    this.remedies = error.remedies ?? [];
    this.request = error.request ?? null;
    this.retryAfter = retryAfter;
  }
}

/**
 * @typedef {{signal?: AbortSignal, headers?: Record<string, string>}} Options
 */

/**
 * @param {string} url
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function getJson(url, options = {}) {
  return (await send("GET", url, undefined, options)).body;
}

/**
 * @param {string} url
 * @param {object} body
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function postJson(url, body, options = {}) {
  return (await send("POST", url, body, options)).body;
}

/**
 * @param {string} url
 * @param {Options} [options]
 * @returns {Promise<any>} null when the answer has no body
 */
export async function deleteJson(url, options = {}) {
  return (await send("DELETE", url, undefined, options)).body;
}

/**
 * Send a request and read the answer with its status: for those who care about 202.
 * Cancelled requests reject with the AbortError of fetch; all other failures with ApiError, code
 * "network" when no answer came at all.
 * @param {string} method
 * @param {string} url
 * @param {object | undefined} body
 * @param {Options} [options]
 * @returns {Promise<{status: number, headers: Headers, body: any}>}
 */
export async function send(method, url, body, options = {}) {
  const headers = { Accept: "application/json", ...options.headers };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET") {
    const token = document.querySelector('meta[name="csrf"]')?.getAttribute("content");
    if (token) headers["X-CSRF-Token"] = token;
  }
  let response;
  try {
    response = await fetch(inLanguage(url), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      signal: options.signal,
    });
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "AbortError") throw problem;
    throw new ApiError({ code: "network" });
  }
  const answer = await parsed(response);
  if (!response.ok) {
    const wait = Number(response.headers.get("Retry-After"));
    const error = answer?.error ?? { code: "internal" };
    throw new ApiError({ ...error, status: response.status }, wait > 0 ? wait : null);
  }
  return { status: response.status, headers: response.headers, body: answer };
}

/** @param {string} url */
function inLanguage(url) {
  const full = new URL(url, window.location.href);
  if (full.pathname.startsWith("/api/") && !full.searchParams.has("lang")) {
    full.searchParams.set("lang", language);
  }
  return full.pathname + full.search;
}

/** @param {Response} response */
async function parsed(response) {
  const text = await response.text().catch(() => "");
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

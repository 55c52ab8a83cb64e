// @ts-check
// The table that was asked for last: older requests are cancelled, large ones wait as jobs.

import { ApiError, deleteJson, getJson, postJson, send } from "../shared/api.js";

const KEPT = 12;
const PAUSES = [300, 500, 800, 1200, 2000];

/** @type {Map<string, any>} */
const answers = new Map();

/** @type {AbortController | null} */
let current = null;

/** Stop waiting for an answer that nobody wants any more. */
export function cancel() {
  current?.abort();
  current = null;
}

/**
 * The answer that is kept for a question, if there is one.
 * @param {object} question
 */
export function kept(question) {
  return answers.get(JSON.stringify(question)) ?? null;
}

/**
 * Ask for a table. Rejects with AbortError when a later question has taken its place.
 * @param {object} question
 * @param {(share: number | null) => void} onProgress
 * @returns {Promise<any>}
 */
export async function table(question, onProgress) {
  cancel();
  const controller = new AbortController();
  current = controller;
  const { signal } = controller;
  const answer = await send("POST", "/api/v1/tables", question, { signal });
  const dataset = answer.status === 202 ? await finished(answer.body.job, onProgress, signal) : answer.body;
  answers.set(JSON.stringify(question), dataset);
  for (const key of answers.keys()) {
    if (answers.size <= KEPT) break;
    answers.delete(key);
  }
  return dataset;
}

/**
 * Sizes and limits of a question that is not answered.
 * @param {object} question
 * @returns {Promise<any | null>}
 */
export async function sizes(question) {
  try {
    return await postJson("/api/v1/tables/check", question);
  } catch {
    return null;
  }
}

/**
 * @param {any} job
 * @param {(share: number | null) => void} onProgress
 * @param {AbortSignal} signal
 */
async function finished(job, onProgress, signal) {
  let last = job;
  const address = `/api/v1/jobs/${encodeURIComponent(job.id)}`;
  // Nobody waits any more: the server need not go on.
  const forget = () => void deleteJson(address).catch(() => null);
  signal.addEventListener("abort", forget);
  for (let round = 0; last.status === "waiting" || last.status === "running"; round += 1) {
    onProgress(typeof last.progress === "number" ? last.progress : null);
    await pause(PAUSES[Math.min(round, PAUSES.length - 1)], signal);
    last = (await getJson(address, { signal })).job;
  }
  signal.removeEventListener("abort", forget);
  if (last.status !== "done") throw new ApiError(last.error ?? { code: "internal", status: 500 });
  return getJson(last.result, { signal });
}

/**
 * @param {number} time
 * @param {AbortSignal} signal
 */
function pause(time, signal) {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(resolve, time);
    signal.addEventListener("abort", () => {
      window.clearTimeout(timer);
      reject(new DOMException("", "AbortError"));
    });
  });
}

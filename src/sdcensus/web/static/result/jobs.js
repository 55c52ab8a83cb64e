// @ts-check
// Answers that take a while: the server names a job, and we ask until it is done.

import { ApiError, getJson } from "../shared/api.js";

const FIRST = 500; // milliseconds between questions, growing
const LONGEST = 3000;

/**
 * @typedef {{id: string, status: string, progress: number | null, stage: string | null,
 *   result: string | null}} Job
 */

/**
 * Wait for a job.
 * @param {Job} job
 * @param {{onProgress?: (job: Job) => void, signal?: AbortSignal}} [options]
 * @returns {Promise<string>} where the result is
 */
export async function finished(job, { onProgress = () => {}, signal } = {}) {
  let now = job;
  for (let wait = FIRST; ; wait = Math.min(wait * 1.5, LONGEST)) {
    onProgress(now);
    if (now.status === "done" && now.result) return now.result;
    if (now.status === "failed" || now.status === "expired") throw new ApiError({ code: now.status });
    await pause(wait, signal);
    now = (await getJson(`/api/v1/jobs/${encodeURIComponent(job.id)}`, { signal })).job;
  }
}

/** @param {number} time @param {AbortSignal} [signal] */
function pause(time, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      window.clearTimeout(timer);
      reject(new DOMException("", "AbortError"));
    };
    const timer = window.setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve(undefined);
    }, time);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

// @ts-check
// Dragging a line of a list to another place, with mouse, pen or finger.

const NEAR = 4; // pixels that are still a click

/**
 * @typedef {{zone: string, at: number}} Place
 */

/**
 * Make a handle drag its item within the zones of a root.
 * @param {HTMLElement} handle
 * @param {HTMLElement} item an element with class "item"
 * @param {HTMLElement} root holds elements with data-zone, which hold lists of items
 * @param {(place: Place) => void} onDrop
 */
export function draggable(handle, item, root, onDrop) {
  handle.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const start = { x: event.clientX, y: event.clientY };
    const marker = document.createElement("li");
    marker.className = "drop-marker";
    marker.setAttribute("aria-hidden", "true");
    /** @type {Place | null} */
    let place = null;
    let moving = false;
    const move = (now) => {
      const [x, y] = [now.clientX - start.x, now.clientY - start.y];
      if (!moving && Math.hypot(x, y) < NEAR) return;
      if (!moving) item.classList.add("dragging");
      moving = true;
      now.preventDefault();
      item.style.setProperty("transform", `translateY(${y}px)`);
      place = found(root, item, now.clientY, marker);
    };
    const end = (drop) => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      window.removeEventListener("pointercancel", stop);
      window.removeEventListener("keydown", key, true);
      item.classList.remove("dragging");
      item.style.removeProperty("transform");
      marker.remove();
      if (drop && moving && place) onDrop(place);
    };
    const up = () => end(true);
    const stop = () => end(false);
    const key = (pressed) => {
      if (pressed.key !== "Escape") return;
      pressed.preventDefault();
      pressed.stopPropagation();
      end(false);
    };
    window.addEventListener("pointermove", move, { passive: false });
    window.addEventListener("pointerup", up);
    window.addEventListener("pointercancel", stop);
    window.addEventListener("keydown", key, true);
  });
}

/**
 * The place under the pointer, marked by a line.
 * @param {HTMLElement} root
 * @param {HTMLElement} item
 * @param {number} y
 * @param {HTMLElement} marker
 * @returns {Place | null}
 */
function found(root, item, y, marker) {
  const zones = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("[data-zone]")]);
  let best = zones[0];
  for (const one of zones) if (one.getBoundingClientRect().top <= y) best = one;
  const list = best?.querySelector("ol");
  if (!list) return null;
  const others = [...list.querySelectorAll(".item")].filter((one) => one !== item);
  let at = 0;
  for (const one of others) {
    const box = one.getBoundingClientRect();
    if (y > box.top + box.height / 2) at += 1;
  }
  list.insertBefore(marker, others[at] ?? null);
  return { zone: best.dataset.zone ?? "rows", at };
}

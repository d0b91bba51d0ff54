// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  append,
  apply,
  define,
  host,
  MapOf,
  mapDelete,
  mapForEach,
  mapGet,
  mapSet,
  mapSize,
  NumberOf,
  newList,
  RangeErrorOf,
  TypeErrorOf,
} from "./primordials.js";

const MOST_TIMERS = 10_000;
const LONGEST_DELAY = 2_147_483_647;

/** Those that are waiting, by id. */
const timers = new MapOf();
/** The same as a heap, with the one that is due first at its top. Those that were cleared stay in it until they get there. */
const heap = newList();
let nextId = 1;
let nextTurn = 1;

function start(callback, delay, args, repeats) {
  if (typeof callback !== "function") throw new TypeErrorOf("a timer needs a function to call");
  if (mapSize(timers) >= MOST_TIMERS) throw new RangeErrorOf("more than " + MOST_TIMERS + " timers are waiting");
  const asked = NumberOf(delay ?? 0);
  const wait = asked >= 1 && asked <= LONGEST_DELAY ? asked : 1;
  const timer = { id: nextId++, callback, args, due: 0, turn: 0, every: repeats ? wait : 0, waits: false };
  wake(timer, host.milliseconds() + wait);
  return timer.id;
}

function wake(timer, due) {
  timer.due = due;
  // Among those due at the same time the order of starting counts.
  timer.turn = nextTurn++;
  timer.waits = true;
  mapSet(timers, timer.id, timer);
  if (heap.length >= 2 * MOST_TIMERS) sweep();
  append(heap, timer);
  rise(heap.length - 1);
}

/** Rebuilds the heap without the timers that were cleared. */
function sweep() {
  heap.length = 0;
  mapForEach(timers, (timer) => {
    append(heap, timer);
    rise(heap.length - 1);
  });
}

function isBefore(one, other) {
  return one.due < other.due || (one.due === other.due && one.turn < other.turn);
}

function rise(from) {
  const timer = heap[from];
  let at = from;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (!isBefore(timer, heap[above])) break;
    heap[at] = heap[above];
    at = above;
  }
  heap[at] = timer;
}

/** Takes the top off the heap. */
function drop() {
  const timer = heap[heap.length - 1];
  heap.length--;
  const count = heap.length;
  if (count === 0) return;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= count) break;
    if (below + 1 < count && isBefore(heap[below + 1], heap[below])) below++;
    if (!isBefore(heap[below], timer)) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = timer;
}

/** The timer that is due first; undefined when none is waiting. */
function first() {
  while (heap.length > 0 && !heap[0].waits) drop();
  return heap.length > 0 ? heap[0] : undefined;
}

export function setTimer(callback, delay, ...args) {
  return start(callback, delay, args, false);
}

export function clearTimer(id) {
  const timer = mapGet(timers, id);
  if (timer === undefined) return;
  timer.waits = false;
  mapDelete(timers, id);
}

/** When the next timer is due, in milliseconds since 1970; -1 when none is waiting. */
export function nextTimer() {
  return first()?.due ?? -1;
}

/** Calls the timer that is due first, if it is due by now. */
export function fireTimer(now) {
  const timer = first();
  if (timer === undefined || timer.due > now) return false;
  drop();
  clearTimer(timer.id);
  if (timer.every > 0) wake(timer, now + timer.every);
  apply(timer.callback, undefined, timer.args);
  return true;
}

export function clearTimers() {
  mapForEach(timers, (_timer, id) => mapDelete(timers, id));
  heap.length = 0;
}

export function installTimers() {
  define(globalThis, "setTimeout", (callback, delay, ...args) => start(callback, delay, args, false));
  define(globalThis, "setInterval", (callback, delay, ...args) => start(callback, delay, args, true));
  define(globalThis, "clearTimeout", (id) => clearTimer(id));
  define(globalThis, "clearInterval", (id) => clearTimer(id));
}

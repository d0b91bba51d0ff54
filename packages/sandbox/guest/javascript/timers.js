// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import { append, apply, define, freeze, host, NumberOf, newList, RangeErrorOf, TypeErrorOf } from "./primordials.js";

const MOST_TIMERS = 10_000;
const LONGEST_DELAY = 2_147_483_647;

/** A heap with the timer that is due first at its top. Those that were cleared stay in it until they get there. */
let heap = newList();
/** How many of them are waiting. */
let count = 0;
let nextTurn = 1;

/** What a program gets to clear a timer by; there is nothing in it that it could reach. */
class Timer {
  #callback;
  #args;
  /** How often it repeats, in milliseconds; 0 when it does not. */
  #every;
  #due = 0;
  /** Among timers due at the same time the order of starting counts. */
  #turn = 0;
  #waits = false;

  constructor(callback, args, every) {
    this.#callback = callback;
    this.#args = args;
    this.#every = every;
  }

  static start(timer, due) {
    timer.#due = due;
    timer.#turn = nextTurn++;
    timer.#waits = true;
    count++;
    if (heap.length >= 2 * MOST_TIMERS) Timer.#sweep();
    append(heap, timer);
    Timer.#rise(heap.length - 1);
  }

  static clear(timer) {
    if (typeof timer !== "object" || timer === null || !(#waits in timer) || !timer.#waits) return;
    timer.#waits = false;
    count--;
  }

  /** When the next one is due, in milliseconds since 1970; -1 when none is waiting. */
  static next() {
    while (heap.length > 0 && !heap[0].#waits) Timer.#drop();
    return heap.length > 0 ? heap[0].#due : -1;
  }

  /** Calls the one that is due first, if it is due by now. */
  static fire(now) {
    const due = Timer.next();
    if (due < 0 || due > now) return false;
    const timer = heap[0];
    Timer.#drop();
    Timer.clear(timer);
    if (timer.#every > 0) Timer.start(timer, now + timer.#every);
    apply(timer.#callback, undefined, timer.#args);
    return true;
  }

  static clearAll() {
    for (let index = 0; index < heap.length; index++) Timer.clear(heap[index]);
    heap = newList();
  }

  /** Rebuilds the heap without the timers that were cleared. */
  static #sweep() {
    const all = heap;
    heap = newList();
    for (let index = 0; index < all.length; index++) {
      if (!all[index].#waits) continue;
      append(heap, all[index]);
      Timer.#rise(heap.length - 1);
    }
  }

  static #isBefore(one, other) {
    return one.#due < other.#due || (one.#due === other.#due && one.#turn < other.#turn);
  }

  static #rise(from) {
    const timer = heap[from];
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!Timer.#isBefore(timer, heap[above])) break;
      heap[at] = heap[above];
      at = above;
    }
    heap[at] = timer;
  }

  /** Takes the top off the heap. */
  static #drop() {
    const last = heap[heap.length - 1];
    heap.length--;
    const length = heap.length;
    if (length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= length) break;
      if (below + 1 < length && Timer.#isBefore(heap[below + 1], heap[below])) below++;
      if (!Timer.#isBefore(heap[below], last)) break;
      heap[at] = heap[below];
      at = below;
    }
    heap[at] = last;
  }
}

// A program reaches the class through a timer's prototype; it cannot put anything else in the place of these functions.
const { start, clear, next, fire, clearAll } = freeze(Timer);

function begin(callback, delay, args, repeats) {
  if (typeof callback !== "function") throw new TypeErrorOf("a timer needs a function to call");
  if (count >= MOST_TIMERS) throw new RangeErrorOf("more than " + MOST_TIMERS + " timers are waiting");
  const asked = NumberOf(delay ?? 0);
  const wait = asked >= 1 && asked <= LONGEST_DELAY ? asked : 1;
  const timer = new Timer(callback, args, repeats ? wait : 0);
  start(timer, host.milliseconds() + wait);
  return timer;
}

export function setTimer(callback, delay, ...args) {
  return begin(callback, delay, args, false);
}

export { clear as clearTimer, clearAll as clearTimers, fire as fireTimer, next as nextTimer };

export function installTimers() {
  define(globalThis, "setTimeout", (callback, delay, ...args) => begin(callback, delay, args, false));
  define(globalThis, "setInterval", (callback, delay, ...args) => begin(callback, delay, args, true));
  define(globalThis, "clearTimeout", (timer) => clear(timer));
  define(globalThis, "clearInterval", (timer) => clear(timer));
}

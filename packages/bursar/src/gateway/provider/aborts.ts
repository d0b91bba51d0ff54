/** Whoever wants to know that a signal has fired. */
export interface Hearer {
  aborted(): void;
}

/** Few at a time, and mostly one. No set: what is deleted from one again and again outlives the quick collections. */
const hearers = new WeakMap<AbortSignal, Hearer[]>();

/**
 * Tells somebody when a signal fires. All requests of a client's connection have one signal, and to add a listener to it and to remove
 * it again takes longer than to check a request: it has one for all of them.
 */
export function hear(signal: AbortSignal, hearer: Hearer): void {
  const known = hearers.get(signal) ?? listenTo(signal);
  known.push(hearer);
}

export function unhear(signal: AbortSignal, hearer: Hearer): void {
  const known = hearers.get(signal);
  const at = known?.lastIndexOf(hearer) ?? -1;
  if (at >= 0) known?.splice(at, 1);
}

function listenTo(signal: AbortSignal): Hearer[] {
  const all: Hearer[] = [];
  hearers.set(signal, all);
  // Those who are told leave.
  signal.addEventListener("abort", () => [...all].forEach((each) => void each.aborted()), { once: true });
  return all;
}

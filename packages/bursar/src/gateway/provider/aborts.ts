/** Whoever wants to know that a signal has fired. */
export interface Hearer {
  aborted(): void;
}

const hearers = new WeakMap<AbortSignal, Set<Hearer>>();

/**
 * Tells somebody when a signal fires. All requests of a client's connection have one signal, and to add a listener to it and to remove
 * it again takes longer than to check a request: it has one for all of them.
 */
export function hear(signal: AbortSignal, hearer: Hearer): void {
  const known = hearers.get(signal) ?? listenTo(signal);
  known.add(hearer);
}

export function unhear(signal: AbortSignal, hearer: Hearer): void {
  hearers.get(signal)?.delete(hearer);
}

function listenTo(signal: AbortSignal): Set<Hearer> {
  const all = new Set<Hearer>();
  hearers.set(signal, all);
  // Those who are told leave.
  signal.addEventListener("abort", () => [...all].forEach((each) => void each.aborted()), { once: true });
  return all;
}

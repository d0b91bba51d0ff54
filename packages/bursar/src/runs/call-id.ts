/** Names one try of an effect: each claim has tries of its own. */
export function callId(run: string, number: number, epoch: number): string {
  return `${run}/${number}@${epoch}`;
}

/** What an effect does inside of itself is a call of its own, named after it and counted. */
export const INNER = ["fetch", "write"] as const;

export function innerCallId(call: string, inner: (typeof INNER)[number], count: number): string {
  return `${call} ${inner} ${count}`;
}

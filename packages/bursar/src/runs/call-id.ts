/** Names one try of an effect: each claim has tries of its own. */
export function callId(run: string, number: number, epoch: number): string {
  return `${run}/${number}@${epoch}`;
}

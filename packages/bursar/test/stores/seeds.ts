import { appendFileSync } from "node:fs";

/** The first seed of this run: the same one every time, so that a failure is one of the change; a soak takes others. */
export const SEED: number = Number(process.env.BURSAR_SEED ?? 1);

/** How much of what a soak tries in each of its rounds is tried: with every test run a part. */
const ROUNDS = Number(process.env.BURSAR_ROUNDS ?? 0.3);

export function rounds(usual: number): number {
  return Math.max(1, Math.round(usual * ROUNDS));
}

/** How long a test may take that does so much more than usual. */
export function patience(usual_ms = 120_000): number {
  return usual_ms * Math.max(1, ROUNDS);
}

/** Figures for whoever started the soak. */
export function report(figures: Readonly<Record<string, number>>): void {
  const file = process.env.BURSAR_FIGURES;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figures)}\n`);
}

/** Does the work, and names the seed when it fails, so that it can be done again. */
export async function withSeed<Value>(seed: number, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`with BURSAR_SEED=${SEED}, at seed ${seed}: ${(error as Error).message}`, { cause: error });
  }
}

/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

import { expect, test } from "vitest";
import { history, played } from "./history.js";

/** `BURSAR_SEED=17 npx vitest run …/history.test.ts` repeats one; `npm run soak` tries thousands. */
const given = process.env.BURSAR_SEED;
const SEEDS =
  given === undefined
    ? Array.from({ length: Number(process.env.BURSAR_SEEDS ?? 150) }, (_, at) => at)
    : [Number(given)];

test("whatever happens, a run comes to its end, with nothing lost, held or done in vain", async () => {
  for (const seed of SEEDS) expect({ seed, problems: await history(seed) }).toEqual({ seed, problems: [] });
});

test("a seed is played again to the last hash", async () => {
  for (const seed of SEEDS.slice(0, 10)) {
    const { head } = await played(seed);
    expect({ seed, head }).toEqual({ seed, head: (await played(seed)).head });
  }
});

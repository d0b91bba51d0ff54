import type { ServerResponse } from "node:http";
import { hasEnded, readRun } from "../runs/record.js";
import type { World } from "./world.js";

/** A change that nobody has told of is seen after so long. */
const LOOK_MS = 500;

/** Waits until a run stands still or has ended, its time is over, or nobody is there any more to hear of it. */
export async function stillness(world: World, run: string, wait_ms: number, response: ServerResponse): Promise<void> {
  const { store, changes, settings, ending } = world;
  if (wait_ms === 0) return;
  const until = store.clock.now().monotonic + wait_ms;
  let wake = () => {};
  using _hearing = changes.listen(({ runs }) => {
    if (runs.includes(run)) wake();
  });
  for (;;) {
    const document = await store.document("run", run);
    if (document === null || document.status === "paused" || hasEnded(readRun(document))) return;
    const left = until - store.clock.now().monotonic;
    if (left <= 0 || ending.aborted || response.destroyed) return;
    await new Promise<void>((resolve) => {
      const timer = settings.timer.after(Math.min(left, LOOK_MS), resolve);
      wake = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
  }
}

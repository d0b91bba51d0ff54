import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects what nobody holds, and lets those who watch it hear of that. */
export async function collected(): Promise<void> {
  collect();
  await new Promise((resolve) => setTimeout(resolve, 1));
}

/** The same until something is so; what never is makes the test fail by its time limit. */
export async function collectUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await collected();
}

import type { News } from "./errand.js";
import { Keeper, type KeeperOptions } from "./keeper.js";
import { removeSleepFolder } from "./sleep-folder.js";

/** A question from the process that uses the sandbox, and the answer to it. */
export interface Question {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** Whether whoever asks wants to know what happens meanwhile. */
  readonly listens: boolean;
}

export type Replied =
  | { readonly id: number; readonly value: unknown }
  /** Something that comes before the answer. */
  | { readonly id: number; readonly news: News }
  | {
      readonly id: number;
      readonly error: { readonly name: string; readonly message: string; readonly field?: string };
    };

const METHODS = new Set([
  "create",
  "begin",
  "resume",
  "drop",
  "cancel",
  "extend",
  "allow",
  "progress",
  "files",
  "keep",
  "adopt",
  "build",
  "list",
  "packageProblems",
  "destroy",
  "warm",
]);

/** Answers questions in a process of its own, which may do little more than compute. */
function serve(options: KeeperOptions): void {
  const keeper = new Keeper(options);
  process.on("message", async ({ id, method, args, listens }: Question) => {
    const listener = (news: News) => process.send?.({ id, news } satisfies Replied);
    const replied = await answer(keeper, id, method, listens ? [...args, listener] : args);
    try {
      process.send?.(replied);
    } catch (error) {
      // What cannot be sent is one session's trouble, and must not be the end of all of them.
      process.send?.({
        id,
        error: { name: "Error", message: `the answer cannot be sent: ${(error as Error).message}` },
      });
    }
  });
  // Whoever has started this process is gone.
  process.on("disconnect", () => process.exit(0));
  // It may have gone before anybody listened.
  if (!process.connected) process.exit(0);
  // No other process takes back what sleeps here.
  process.on("exit", () => removeSleepFolder(options.asleep));
}

async function answer(keeper: Keeper, id: number, method: string, args: readonly unknown[]): Promise<Replied> {
  try {
    if (!METHODS.has(method)) throw new Error(`there is no ${method}`);
    const work = keeper[method as "list"] as (...args: readonly unknown[]) => Promise<unknown>;
    return { id, value: await work.apply(keeper, [...args]) };
  } catch (error) {
    const { name, message, field } = error as Error & { readonly field?: string };
    return { id, error: { name, message, ...(field !== undefined && { field }) } };
  }
}

const [, , options] = process.argv;
if (options !== undefined && process.send !== undefined) serve(JSON.parse(options) as KeeperOptions);

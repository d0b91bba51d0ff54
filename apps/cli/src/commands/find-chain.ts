import type { Store } from "bursar";
import { budgetChain } from "bursar/views";
import { CommandError } from "../app/errors.js";
import { findRun } from "../app/store/find-run.js";

/** The chain that is meant: of a run, or of what is named exactly, such as the server's own. Runs come first. */
export async function findChain(store: Store, word: string): Promise<string> {
  if ((await store.document("run", word)) === null && (await store.budget(word)) !== null) {
    // What happens to a key of a session stands in the session's chain.
    return (await budgetChain(store, word)) ?? word;
  }
  const { budget } = await findRun(store, word).catch(async (error: unknown) => {
    // Whoever looks at runs alone need not wait for all that serves.
    const { SERVER_CHAIN } = await import("bursar/server");
    if (word !== SERVER_CHAIN) throw error;
    const begins = "it does with the first `bursar serve`, token or key on this store";
    throw new CommandError(`the chain ${SERVER_CHAIN} has not begun: ${begins}`);
  });
  return budget;
}

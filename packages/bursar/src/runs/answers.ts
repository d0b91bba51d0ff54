import type { Store } from "../ports/store.js";
import { checkpointId } from "./checkpoint.js";
import { type AnswerEntry, partOf } from "./journal.js";

/** Everything that the program of a run was ever told, part by part. */
export async function* answersOf(store: Store, run: string): AsyncGenerator<AnswerEntry> {
  const checkpoint = await store.document("session", checkpointId(run));
  const { part: last = 0 } = (checkpoint?.body ?? {}) as { readonly part?: number };
  for (let part = 0; part <= last; part++) {
    for await (const { key, entry } of store.journal(partOf(run, part))) {
      const [word, at] = key.split(" ");
      if (word === "answer") yield { ...(entry as unknown as Omit<AnswerEntry, "at">), at: Number(at) };
    }
  }
}

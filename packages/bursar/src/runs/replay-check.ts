import type { Played, Program, Stage } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import { checkpointId, readCheckpoint } from "./checkpoint.js";
import { type ReplayError, RunError } from "./error.js";
import { readWholeJournal } from "./journal.js";
import { BEGINNING, Player } from "./player.js";
import type { RunRecord } from "./record.js";

/** A program that waits for something else than its answers is not waited for any longer. */
const LONGEST_MS = 2000;

/**
 * Plays a trusted program against all that its run has done, without doing anything for it. Gives where it differs, or null when it asks
 * for the same again. Nothing is written, so that this can be known before a decision.
 */
export async function findDivergence(store: Store, run: RunRecord, program: Program): Promise<ReplayError | null> {
  const { part } = readCheckpoint(run.id, await store.document("session", checkpointId(run.id)));
  const journal = await readWholeJournal(store, run.id, part);
  const over = new AbortController();
  let alarm: NodeJS.Timeout | undefined;
  try {
    return await new Promise<ReplayError | null>((resolve) => {
      alarm = setTimeout(() => resolve(null), LONGEST_MS);
      const player = new Player({
        run: run.id,
        journal,
        from: BEGINNING,
        epoch: 0,
        now: () => store.clock.now().instant,
        perform: () => {},
        diverged: resolve,
      });
      const ended = () => {
        player.ended();
        resolve(null);
      };
      const played: Played = program.play(dryStage(run, player, over.signal), run.input);
      played.result.then(ended, ended);
      player.replay().then(
        () => resolve(null),
        () => resolve(null),
      );
    });
  } finally {
    clearTimeout(alarm);
    over.abort(new RunError("ended", "the program was only played to see whether it does the same"));
  }
}

/** What a program gets that is only looked at: the answers it had, and nothing beyond them. */
function dryStage({ id, created }: RunRecord, player: Player, signal: AbortSignal): Stage {
  return {
    run_id: id,
    began: created,
    signal,
    saved: null,
    watched: false,
    ask: (name, args, own) => player.ask(name, args, own),
    askedBefore: (number) => player.askedBefore(number),
    save: async () => {},
    prepare: (work) => work(),
    compute: () => new Promise(() => {}),
    exhausted: async () => false,
    output: () => {},
  };
}

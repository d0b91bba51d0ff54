import type { Failure, RunResult } from "bursar";

/** What scripts can tell how a run ended by. */
export const EXIT = { done: 0, failed: 1, cancelled: 3, paused: 4, stopped: 5, interrupted: 130 } as const;

export const EXIT_HELP = `Exit codes:
  0    the run has completed
  1    the run has failed, or the command has
  2    the command line was not understood
  3    the run was cancelled, or what it asked for was denied
  4    the run has paused, and waits for an approval
  5    a limit has stopped the run, or would not have sufficed for it
  130  interrupted; the run can be resumed`;

export function exitCodeOf(result: RunResult): number {
  switch (result.status) {
    case "completed":
      return EXIT.done;
    case "failed":
      return isStopped(result.failure) ? EXIT.stopped : EXIT.failed;
    case "cancelled":
      return EXIT.cancelled;
    case "paused":
      return EXIT.paused;
    default:
      return EXIT.done;
  }
}

/** A limit has stopped it, or was known beforehand not to suffice. */
function isStopped({ dimension, code }: Failure): boolean {
  return dimension !== null || code === "estimated_over";
}

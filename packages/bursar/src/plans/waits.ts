import type { Routine } from "./syntax/expression.js";

/** Whoever calls something that waits, waits: what is known of single functions is carried on to their callers. */
export function spreadWaiting(routines: readonly Routine[]): void {
  const callers = new Map<Routine, Routine[]>();
  for (const routine of routines) {
    for (const called of routine.calls) {
      const known = callers.get(called);
      if (known === undefined) callers.set(called, [routine]);
      else known.push(routine);
    }
  }
  const open = routines.filter(({ waits }) => waits);
  for (let routine = open.pop(); routine !== undefined; routine = open.pop()) {
    for (const caller of callers.get(routine) ?? []) {
      if (caller.waits) continue;
      caller.waits = true;
      open.push(caller);
    }
  }
}

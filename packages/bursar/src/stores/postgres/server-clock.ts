import type { Clock } from "../../ports/clock.js";
import { systemClock } from "../../runtime/system-clock.js";
import type { Asking } from "./pool.js";

/** Instants as the server has them, so that machines whose clocks disagree agree on what has expired. */
export async function serverClock(server: Asking): Promise<Clock> {
  const asked = Date.now();
  const [row] = await server.ask("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
  const ahead = Number(row?.now) - (asked + Date.now()) / 2;
  return {
    now: () => {
      const { instant, monotonic } = systemClock.now();
      return { instant: Math.round(instant + ahead), monotonic };
    },
  };
}

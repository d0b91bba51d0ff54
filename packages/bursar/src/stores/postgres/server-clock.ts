import type { Clock } from "../../ports/clock.js";
import { systemClock } from "../../runtime/system-clock.js";
import type { Server } from "./connect.js";

/** Instants as the server has them, so that machines whose clocks disagree agree on what has expired. */
export async function serverClock(server: Server): Promise<Clock> {
  const asked = Date.now();
  const [row] = await server.unsafe("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
  const ahead = Number(row?.now) - (asked + Date.now()) / 2;
  return {
    now: () => {
      const { instant, monotonic } = systemClock.now();
      return { instant: Math.round(instant + ahead), monotonic };
    },
  };
}

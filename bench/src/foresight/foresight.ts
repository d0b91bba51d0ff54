import type { Bench, Report } from "../report.js";
import { estimate } from "./estimate.js";
import { reservations } from "./reservations.js";
import { reuse } from "./reuse.js";
import { tiers } from "./tiers.js";

/** What is measured of looking ahead, each by itself. */
const PARTS: readonly ((quick: boolean) => Promise<Report>)[] = [estimate, reuse, reservations, tiers];

export const foresight: Bench = {
  name: "foresight",
  about: "what a run is expected to take, told by a hundred thousand before it",
  async run(quick) {
    const reports: Report[] = [];
    for (const part of PARTS) reports.push(await part(quick));
    return { tables: reports.flatMap(({ tables }) => tables), bars: reports.flatMap(({ bars }) => bars) };
  },
};

import type { Bar, Report } from "../report.js";
import { compare, type Extent, meanOf, type Runs, rowsOf } from "./comparison.js";
import { fastPython, GUESTS } from "./python-parts.js";

const LEAST_GAIN = 2;
const MOST_METERED = 1.2;
const LEAST_WORKLOADS = 10;
const METERED = "the fast CPython metered";
const GAIN = "the fast CPython against the one on npm";

/** What the fast guest promises, measured where there is one. */
export class FastGuestRuns {
  private readonly guests: Runs[number][] = [];
  private readonly metered: Runs[number][] = [];
  private readonly isThere: boolean;

  private constructor(isThere: boolean) {
    this.isThere = isThere;
  }

  static async open(): Promise<FastGuestRuns> {
    return new FastGuestRuns((await fastPython()) !== null);
  }

  /** Once more, in new processes. */
  measure(extent: Extent): void {
    if (!this.isThere) return;
    this.guests.push(compare("guests", extent));
    this.metered.push(compare("fast", extent));
  }

  get tables(): Report["tables"] {
    if (!this.isThere) return [];
    return [
      { title: "fast CPython, thread time, ratio to the one on npm", rows: rowsOf(this.guests) },
      { title: "fast CPython, metered, thread time, ratio to unmetered", rows: rowsOf(this.metered) },
    ];
  }

  /** What was not measured is not met, and says what is missing. */
  get bars(): readonly Bar[] {
    if (!this.isThere) {
      const measured = `not measured, because there is none in ${GUESTS}; npm run build:guest makes it`;
      return [GAIN, METERED].map((name) => ({ name, measured, met: false }));
    }
    return [gainBar(this.guests), meteredBar(this.metered)];
  }
}

function gainBar(runs: Runs): Bar {
  const { mean, workloads, spread } = meanOf(runs, ({ ratio }) => 1 / ratio);
  return {
    name: GAIN,
    measured: `${mean.toFixed(3)} x as fast over ${workloads} workloads${spread}; at least ${LEAST_GAIN}`,
    met: mean >= LEAST_GAIN && workloads >= LEAST_WORKLOADS,
  };
}

function meteredBar(runs: Runs): Bar {
  const { mean, workloads, spread } = meanOf(runs);
  return {
    name: METERED,
    measured: `${mean.toFixed(3)} x unmetered over ${workloads} workloads${spread}; at most ${MOST_METERED}`,
    met: mean <= MOST_METERED && workloads >= LEAST_WORKLOADS,
  };
}

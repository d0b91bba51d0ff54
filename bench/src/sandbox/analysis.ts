import { analyzeFuel, type ErrorFacts, explainError, type ImportFact } from "@bursar/sandbox/analysis";
import { PythonGuest } from "../../../packages/sandbox/dist/python/python-guest.js";
import type { Measured } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import { interleave } from "./interleave.js";
import { NASTY_PIECES, repeated } from "./nasty-texts.js";
import { PAGES, pythonParts } from "./python-parts.js";

type Language = ErrorFacts["language"];

const LANGUAGES: readonly Language[] = ["python", "javascript"];
const MEGABYTE = 1024 * 1024;
const MS = 1e6;
const FUEL = 2_000_000_000;
const MAX_SHARE = 0.01;
const MAX_NASTY_MS = 10;
const MAX_GROWTH = 1.5;
/** One analysis is too short to be timed. */
const REPEATS = 100;

/** Small as programs go: it reads a table, adds some of it up, and falls over a file that is not there. */
const PROGRAM = `
import csv, io, json
table = io.StringIO("\\n".join("%d,name %d,%d" % (n, n, n * 7 % 50) for n in range(500)))
totals = {}
for number, name, price in csv.reader(table):
    totals[price] = totals.get(price, 0) + int(number)
print(json.dumps(totals))
open("/etc/prices.csv")
`;

export const analysis: Bench = {
  name: "sandbox-analysis",
  about: "fuel analysis and error guidance, against the execution they are about, and on texts made to be slow",
  async run(quick) {
    const typical = await measureTypical(quick);
    const nasty = await measureNasty(quick);
    const growth = await measureGrowth(quick);
    return {
      tables: [
        { title: "a small program that fails, thread time, ratio to its execution", rows: typical },
        { title: "1 MB of standard error, ratio to the first", rows: nasty },
        { title: "all of these texts in both languages, for each MB, ratio to 1 MB of each", rows: growth },
      ],
      bars: bars(typical, nasty, growth),
    };
  },
};

function bars(typical: readonly Measured[], nasty: readonly Measured[], growth: readonly Measured[]): readonly Bar[] {
  const share = typical[1]?.ratio ?? Number.NaN;
  const slowest = slowestOf(nasty);
  const grown = growth.at(-1)?.ratio ?? Number.NaN;
  return [
    {
      name: "analysis and guidance of a small program",
      measured: `${(share * 100).toFixed(3)} % of its execution, below ${MAX_SHARE * 100} %`,
      met: share < MAX_SHARE,
    },
    {
      name: `1 MB of the slowest text (${slowest.name})`,
      measured: `${(slowest.medianNs / MS).toFixed(2)} ms, below ${MAX_NASTY_MS}`,
      met: slowest.medianNs / MS < MAX_NASTY_MS,
    },
    {
      name: "time for each MB, from 1 MB to 16 MB",
      measured: `${grown.toFixed(2)} x, at most ${MAX_GROWTH}`,
      met: grown <= MAX_GROWTH,
    },
  ];
}

function slowestOf(rows: readonly Measured[]): Measured {
  const [slowest] = rows.toSorted((a, b) => b.medianNs - a.medianNs);
  if (slowest === undefined) throw new Error("there are no texts");
  return slowest;
}

async function measureTypical(quick: boolean): Promise<readonly Measured[]> {
  const parts = await pythonParts();
  const execute = (): ErrorFacts => {
    const guest = new PythonGuest(parts, { memoryPages: PAGES });
    const { fuel_consumed, imports, outcome } = guest.begin({ code: PROGRAM }, { fuel: FUEL, onSlice: () => {} });
    if (outcome.kind !== "ended" || outcome.exit_code === 0) throw new Error("the program should have failed");
    const known = imports.map(({ name, fuel }): ImportFact => ({ module: name, first: true, fuel }));
    return factsOf(guest.host.stderr.text(), PROGRAM, { consumed: fuel_consumed, imports: known });
  };
  const facts = execute();
  if (explainError(facts)?.error_type !== "PathRestriction") throw new Error("the failure was not understood");
  const [execution, analyses] = await interleave(
    [
      { name: "baseline: the execution", run: () => void execute() },
      { name: "analyzeFuel and explainError", run: () => times(REPEATS, () => analyze(facts)) },
    ],
    { rounds: quick ? 10 : 50, warmUp: 5 },
  );
  return [execution as Measured, shareOf(analyses as Measured, REPEATS)];
}

/** The same for one out of many. */
function shareOf({ name, medianNs, p10Ns, ratio }: Measured, count: number): Measured {
  return { name, medianNs: medianNs / count, p10Ns: p10Ns / count, ratio: ratio / count };
}

function measureNasty(quick: boolean): Promise<readonly Measured[]> {
  const variants = Object.entries(NASTY_PIECES).flatMap(([name, piece]) =>
    LANGUAGES.map((language) => ({
      name: `${language}, ${name}`,
      run: analyzing(repeated(piece, MEGABYTE), [language]),
    })),
  );
  return interleave(variants, { rounds: quick ? 7 : 31, warmUp: 5 });
}

/** What has to be read of a text is at most all of it, so it must not cost more for each byte when there are more. */
async function measureGrowth(quick: boolean): Promise<readonly Measured[]> {
  const sizes = [1, 4, 16];
  const all = Object.values(NASTY_PIECES);
  const rows = await interleave(
    sizes.map((size) => {
      const runs = all.map((piece) => analyzing(repeated(piece, size * MEGABYTE), LANGUAGES));
      const run = () => {
        for (const each of runs) each();
      };
      return { name: `${size} MB of each`, run };
    }),
    { rounds: quick ? 5 : 21, warmUp: 3 },
  );
  return rows.map((row, index) => shareOf(row, sizes[index] ?? 1));
}

/** A text is made in one piece first, as it comes from a guest. */
function analyzing(text: string, languages: readonly Language[]): () => void {
  const stderr = Buffer.from(text).toString("utf8");
  const facts = languages.map((language) => ({ ...factsOf(stderr, stderr, {}), language }));
  return () => facts.forEach(analyze);
}

function factsOf(stderr: string, code: string, known: Partial<ErrorFacts>): ErrorFacts {
  const facts = { language: "python", exitCode: 1, trap: null, consumed: 1_900_000_000, budget: FUEL } as const;
  return {
    ...facts,
    mounts: ["/data/site-packages", "/tmp"],
    mountedPackages: [],
    autoPath: false,
    stderr,
    code,
    ...known,
  };
}

function analyze(facts: ErrorFacts): void {
  analyzeFuel(facts);
  explainError(facts);
}

function times(count: number, work: () => void): void {
  for (let turn = 0; turn < count; turn++) work();
}

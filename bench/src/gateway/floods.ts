import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Measured } from "../measure.js";
import type { Bench, Report } from "../report.js";
import { Client } from "./client.js";
import { type Started, started } from "./processes.js";

const MAX_LATENCY = 2;
const IDLE = 10_000;
const MS = 1_000_000;
/** What was sent before a flood began, or ended, is over by then. */
const SETTLED_MS = 500;

interface Opened {
  readonly url: string;
  readonly secret: string;
  readonly used_up: string;
}

interface Flooded {
  readonly answered: number;
}

export const floods: Bench = {
  name: "floods",
  about: "an honest client beside two loops of 30 MB on a key that is used up, and behind 10,000 idle connections",
  async run(quick) {
    const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
    try {
      return await inFolder(folder, quick);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function inFolder(folder: string, quick: boolean): Promise<Report> {
  using upstream = await started<{ readonly port: number }>("upstream-process", []);
  const base = `http://127.0.0.1:${upstream.said.port}/v1`;
  using gateway = await started<Opened>("gateway-process", [base, `sqlite:${join(folder, "gateway.db")}`]);
  const { url, secret, used_up } = gateway.said;
  const port = Number(new URL(url).port);
  using flood = await started<Flooded>("flood-process", [String(port), used_up]);
  const client = new Client({ port, secret });
  await client.askAll("whole", quick ? 200 : 5000, 4);

  const times: { readonly calm: number; readonly flooded: number }[] = [];
  let answered = 0;
  for (let round = 0; round < (quick ? 1 : 7); round++) {
    const requests = quick ? 50 : 500;
    const calm = await medianOf(client, requests);
    const before = await tell(flood, { flood: true });
    await pause(SETTLED_MS);
    const flooded = await medianOf(client, requests);
    answered += (await tell(flood, { flood: false })).answered - before.answered;
    await pause(SETTLED_MS);
    times.push({ calm, flooded });
  }
  client.close();

  await tell(flood, { idle: quick ? 1000 : IDLE });
  const next = new Client({ port, secret });
  const began = performance.now();
  const isServed = await next.ask("whole").then(
    () => true,
    () => false,
  );
  const took = performance.now() - began;
  next.close();

  const ratio = middle(times.map(({ calm, flooded }) => flooded / calm));
  const row = (name: string, values: readonly number[], share: number): Measured => ({
    name,
    ratio: share,
    medianNs: middle(values) * MS,
    p10Ns: Math.min(...values) * MS,
  });
  const calm = times.map((each) => each.calm);
  const flooded = times.map((each) => each.flooded);
  const beside = `two loops of 30 MB, ${answered} of them answered`;
  return {
    tables: [
      {
        title: "one request, budgets durable on SQLite, p50",
        rows: [row("alone", calm, 1), row(`beside ${beside}`, flooded, ratio)],
      },
    ],
    bars: [
      {
        name: "p50 beside a key that is used up",
        measured: `${ratio.toFixed(2)} x, at most ${MAX_LATENCY}`,
        met: ratio <= MAX_LATENCY,
      },
      {
        name: `the next client behind ${quick ? 1000 : IDLE} idle connections`,
        measured: isServed ? `served after ${took.toFixed(0)} ms` : "not served",
        met: isServed,
      },
    ],
  };
}

async function medianOf(client: Client, requests: number): Promise<number> {
  const times: number[] = [];
  for (let each = 0; each < requests; each++) {
    const began = performance.now();
    await client.ask("whole");
    times.push(performance.now() - began);
  }
  return middle(times);
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function tell({ child }: Started<Flooded>, what: object): Promise<Flooded> {
  return new Promise((resolve) => {
    child.once("message", (said) => resolve(said as Flooded));
    child.send(what);
  });
}

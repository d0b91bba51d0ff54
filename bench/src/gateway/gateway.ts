import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Measured, measureAsync } from "../measure.js";
import type { Bar, Bench, Report } from "../report.js";
import { Client } from "./client.js";
import { type Started, started, takenBy } from "./processes.js";

const MAX_LATENCY = 1.2;
const MIN_THROUGHPUT = 0.85;
/** What a process may have grown by when its memory counts as flat. */
const FLAT_MB = 32;
const MB = 1024 * 1024;
const NS_PER_US = 1000;
/** So many requests make the engine compile what serves them. A gateway runs for days, and is not measured while it warms up. */
const WARM_UP = 10_000;
/** How long the quickest of real providers take until they begin to answer. */
const PROVIDER_MS = 100;

interface Address {
  readonly port: number;
}

interface Opened {
  readonly url: string;
  readonly secret: string;
}

export const gateway: Bench = {
  name: "gateway",
  about: "requests through the gateway, against a bare pipe between the same two sockets",
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
  using upstream = await started<Address>("upstream-process", []);
  const { port } = upstream.said;
  using pipe = await started<Address>("pipe-process", ["127.0.0.1", String(port)]);
  const base = `http://127.0.0.1:${port}/v1`;
  using memory = await started<Opened>("gateway-process", [base, "memory:"]);
  using durable = await started<Opened>("gateway-process", [base, `sqlite:${join(folder, "gateway.db")}`]);
  const clients = {
    "bare pipe": new Client({ port: pipe.said.port, secret: "none" }),
    gateway: clientOf(memory),
    [DURABLE]: clientOf(durable),
  };
  for (const kind of quick ? [] : (["whole", "stream"] as const)) {
    for (const client of Object.values(clients)) await client.askAll(kind, WARM_UP, 16);
  }
  const latency = {
    whole: await beside(clients, (each) => latencies(each, "whole", quick ? 100 : 2000)),
    stream: await beside(clients, (each) => latencies(each, "stream", quick ? 100 : 2000)),
  };
  const after = { "x-after": String(PROVIDER_MS) };
  const real = await beside(clients, (each) => latencies(each, "stream", quick ? 5 : 100, after));
  const rate = {
    whole: await beside(clients, (each) => rates(each, "whole", quick)),
    stream: await beside(clients, (each) => rates(each, "stream", quick)),
  };
  const cpu = {
    whole: await processorTimes({ "bare pipe": pipe, gateway: memory }, clients, "whole", quick),
    stream: await processorTimes({ "bare pipe": pipe, gateway: memory }, clients, "stream", quick),
  };
  const growth = await measureGrowth(memory, clients.gateway, quick);
  for (const client of Object.values(clients)) client.close();
  return {
    tables: [
      { title: "one connection, latency, ratio to the pipe", rows: latency.whole },
      { title: "one connection, a stream of 20 chunks", rows: latency.stream },
      { title: `one connection, a stream that begins after ${PROVIDER_MS} ms`, rows: real },
      { title: "16 connections, per request", rows: rate.whole },
      { title: "16 connections, per stream of 20 chunks", rows: rate.stream },
      { title: "time on a processor, per request", rows: cpu.whole },
      { title: "time on a processor, per stream of 20 chunks", rows: cpu.stream },
    ],
    bars: [
      ...(["whole", "stream"] as const).flatMap((kind) => [
        ratioBar(`latency of one ${kind}, p50`, latency[kind][1]?.ratio ?? Number.NaN),
        throughputBar(`throughput of one ${kind} after the other, 16 at once`, rate[kind][1]?.ratio ?? Number.NaN),
      ]),
      ...growth,
    ],
  };
}

function clientOf({ said: { url, secret } }: Started<Opened>): Client {
  return new Client({ port: Number(new URL(url).port), secret });
}

type Clients = Readonly<Record<string, Client>>;

const DURABLE = "gateway, budgets durable on SQLite";

/**
 * The gateway against the pipe, by turns; and beside that the durable one against the pipe, by turns too. Not all three: one that waits
 * for a disk between two requests leaves the others with a processor that has forgotten them.
 */
async function beside(
  clients: Clients,
  measured: (clients: Clients) => Promise<readonly Measured[]>,
): Promise<readonly Measured[]> {
  const { "bare pipe": pipe, gateway: memory, [DURABLE]: durable } = clients as Record<string, Client>;
  const both = await measured({ "bare pipe": pipe, gateway: memory } as Clients);
  const [, third] = await measured({ "bare pipe": pipe, [DURABLE]: durable } as Clients);
  return third === undefined ? both : [...both, third];
}

function latencies(
  clients: Clients,
  kind: "whole" | "stream",
  rounds: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly Measured[]> {
  const variants = Object.entries(clients).map(([name, client]) => ({
    name,
    operations: 1,
    run: async () => void (await client.ask(kind, headers)),
  }));
  return measureAsync(variants, rounds, () => {});
}

function rates(clients: Clients, kind: "whole" | "stream", quick: boolean): Promise<readonly Measured[]> {
  const operations = 160;
  const variants = Object.entries(clients).map(([name, client]) => ({
    name,
    operations,
    run: () => client.askAll(kind, operations, 16),
  }));
  return measureAsync(variants, quick ? 10 : 60, () => {});
}

/** What each process itself takes for a request, in all its threads and in the system, while 16 are under way. */
async function processorTimes(
  processes: Readonly<Record<string, Started<unknown>>>,
  clients: Clients,
  kind: "whole" | "stream",
  quick: boolean,
): Promise<readonly Measured[]> {
  const requests = 2000;
  const names = Object.keys(processes);
  const rounds: number[][] = [];
  for (let round = 0; round < (quick ? 2 : 7); round++) {
    const times: number[] = [];
    for (const name of names) {
      const process = processes[name] as Started<unknown>;
      const before = await takenBy(process, "processor");
      await (clients[name] as Client).askAll(kind, requests, 16);
      times.push(((await takenBy(process, "processor")).us - before.us) / requests);
    }
    rounds.push(times);
  }
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;
  return names.map((name, index) => {
    const times = rounds.map((each) => (each[index] as number) * NS_PER_US);
    const ratio = middle(rounds.map((each) => (each[index] as number) / (each[0] as number)));
    return { name, medianNs: middle(times), p10Ns: Math.min(...times), ratio };
  });
}

/** The memory of the gateway after many requests, and while many streams that take long are open. */
async function measureGrowth(process: Started<Opened>, client: Client, quick: boolean): Promise<readonly Bar[]> {
  const requests = quick ? 1000 : 10_000;
  await client.askAll("whole", requests / 5, 16);
  const before = await takenBy(process, "memory");
  await client.askAll("whole", requests, 16);
  const after = await takenBy(process, "memory");
  const streams = quick ? 50 : 500;
  await Promise.all(Array.from({ length: streams }, () => client.ask("stream", { "x-slow": "1" })));
  const slow = await takenBy(process, "memory");
  return [
    flatBar(`memory after ${requests} requests`, before.heap, after.heap),
    flatBar(`memory after ${streams} slow streams at once`, after.heap, slow.heap),
  ];
}

function flatBar(name: string, before: number, after: number): Bar {
  const measured = `${(before / MB).toFixed(0)} MB of heap before, ${(after / MB).toFixed(0)} MB after, at most ${FLAT_MB} more`;
  return { name, measured, met: after - before <= FLAT_MB * MB };
}

function ratioBar(name: string, ratio: number): Bar {
  return { name, measured: `${ratio.toFixed(2)} x the pipe's, at most ${MAX_LATENCY}`, met: ratio <= MAX_LATENCY };
}

function throughputBar(name: string, ratio: number): Bar {
  const share = 1 / ratio;
  return {
    name,
    measured: `${share.toFixed(2)} of the pipe's, at least ${MIN_THROUGHPUT}`,
    met: share >= MIN_THROUGHPUT,
  };
}

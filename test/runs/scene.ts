import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBursar, parseLine, type RunResult, type Store, sha256Hex, verifyChain } from "bursar";
import { PostgresStore } from "bursar/postgres";
import { SqliteStore } from "bursar/sqlite";
import type { Address } from "../../packages/bursar/test/stores/child.js";
import { rounded } from "./charges.js";
import { Doors } from "./doors.js";
import { type Errand, WorkerProcess } from "./process.js";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));

/** A link of a chain, as far as the tests look at it. */
interface Told {
  readonly event?: string;
  readonly data: {
    readonly step_id?: string | null;
    readonly estimated?: boolean;
  };
}

/** What is known of a run from outside, when all workers are gone. */
export interface Seen {
  readonly result: RunResult;
  /** How it ended, and what it gave back and printed. */
  readonly end: Readonly<Record<"status" | "result" | "output", unknown>>;
  /** The effects that were charged although nobody knows what became of them, in the order of the chain. */
  readonly estimated: readonly string[];
  /** What it has used of everything that is no clock. */
  readonly usage: Readonly<Record<string, number>>;
  /** The links of its chain, which has been verified. */
  readonly links: readonly Told[];
  /** Whether anything is still held. */
  readonly held: boolean;
}

/** One store, the world around it, and the workers that come and go. */
export class Scene implements AsyncDisposable {
  readonly doors: Doors;
  readonly folder: string;
  readonly address: Address;
  /** Where the sandboxes of all workers find their images, and the key that signs their sessions. */
  readonly sandbox: Errand["sandbox"];
  private readonly workers: WorkerProcess[] = [];

  /** On SQLite, or with a schema of its own on a PostgreSQL server. */
  static async open(postgres?: { readonly url: string; readonly schema: string }): Promise<Scene> {
    const folder = await mkdtemp(join(tmpdir(), "bursar-runs-"));
    return new Scene(await Doors.open(), folder, postgres ?? { path: join(folder, "store.db") });
  }

  private constructor(doors: Doors, folder: string, address: Address) {
    this.doors = doors;
    this.folder = folder;
    this.address = address;
    this.sandbox = { cacheFolder: CACHE, keyFile: join(folder, "key") };
  }

  /** Another worker process, with the same cache and the same key unless it says otherwise. */
  start(errand: Partial<Errand>, options: { readonly trap?: string } = {}): WorkerProcess {
    const { sandbox } = this;
    const name = `worker-${this.workers.length}`;
    const plain = { ...this.doors.places, address: this.address, sandbox, worker: name, claim_ms: 300 };
    const worker = new WorkerProcess({ ...plain, ...errand }, options);
    this.workers.push(worker);
    return worker;
  }

  async store(): Promise<Store> {
    const { address } = this;
    return "path" in address ? SqliteStore.open(address) : PostgresStore.open(address);
  }

  /** Looks at a run from a process that has never driven one. */
  async see(id: string): Promise<Seen> {
    await using store = await this.store();
    const bursar = openBursar({ store });
    const result = await bursar.result(await bursar.find(id));
    const lines: string[] = [];
    for await (const line of store.chain(id)) lines.push(line);
    const verified = await verifyChain(lines, { hash: sha256Hex });
    if (!verified.ok) throw new Error(`the chain of ${id} does not verify: ${JSON.stringify(verified)}`);
    const links = lines.map((line) => parseLine(line) as unknown as Told);
    const counted = store.dimensions.all.filter(({ kind }) => kind !== "clock").map((dimension) => dimension.id);
    const usage = rounded(Object.fromEntries(counted.map((name) => [name, Number(result.usage[name] ?? 0)])));
    const budget = await store.budget(id);
    const held = Object.values(budget?.reserved ?? {}).some((amount) => amount !== 0);
    const { status, output } = result;
    const end = { status, output, result: "result" in result ? result.result : null };
    const estimated = links.flatMap(({ event, data }) =>
      event === "Consumption" && data.estimated === true ? [data.step_id ?? ""] : [],
    );
    return { result, end, estimated, usage, links, held };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.workers) worker[Symbol.dispose]();
    await this.doors[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}

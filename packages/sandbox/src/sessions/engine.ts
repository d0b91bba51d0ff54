import { isWritable } from "../analysis/guest-path.js";
import { openPackages } from "../packages/tree.js";
import type { Mounts } from "../wasi/vfs.js";
import { ZipTree } from "../wasi/zip-tree.js";
import { Memories } from "../wasm/memories.js";
import { type Allotted, type Execution, Stopped } from "../wasm/outcome.js";
import { Controls, type Errand, type FileWork, type FromWorker, type Left, type Report } from "./errand.js";
import { handle } from "./files.js";
import type { Setup } from "./options.js";
import { Outlet } from "./outlet.js";
import { type GuestParts, pagesOf } from "./parts.js";
import { type Around, type Ready, readyJavaScript, readyPython, SITE_PACKAGES } from "./ready.js";
import { Thresholds } from "./thresholds.js";

const EMPTY = { bytes: new Uint8Array(), truncated: false };
const NOTHING: Omit<Report, "left" | "remembered"> = {
  execution: {
    outcome: { kind: "ended", exit_code: 0 },
    imports: [],
    fuel_consumed: 0,
    memory_bytes: 0,
    memory_refused: 0,
  },

  stdout: EMPTY,
  stderr: EMPTY,
  duration_ms: 0,
  files_created: [],
  files_modified: [],
  bytes_written: 0,
  bytes_refused: 0,
};

/** The last guest of a thread, in case it is asked for again. */
interface Remembered {
  readonly ready: Ready;
  /** Whether its program waits, and nobody else has what it is made of. */
  readonly held: boolean;
}

/**
 * Runs executions in this thread, one at a time, and remembers the last guest in case it is asked for again. A guest whose
 * program waits for an answer stays as it is until another session needs the thread: only then is it put together for others.
 */
export class Engine {
  private readonly packages: string;
  private readonly tell: (message: FromWorker) => void;
  private readonly parts = new Map<string, GuestParts>();
  private readonly libraries = new Map<string, ZipTree>();
  private readonly memories = new Map<string, Memories>();
  private last: Remembered | null = null;
  /** When the execution under way has to end. */
  private deadline = 0;
  private controls = new Controls();
  private outlet: Outlet | null = null;

  /** `packages` is the folder with vendored packages; `tell` is told what cannot wait for the report. */
  constructor(packages: string, tell: (message: FromWorker) => void = () => {}) {
    this.packages = packages;
    this.tell = tell;
  }

  learn(key: string, parts: GuestParts): void {
    this.parts.set(key, parts);
  }

  /** Lets go of a session that nobody will ask for again. */
  forget(session: string): void {
    if (this.last?.ready.session !== session) return;
    this.last.ready.close();
    this.last = null;
  }

  /** `started` is told when the guest begins, which is when its time does. */
  async run(errand: Errand, key: string, started: () => void): Promise<Report> {
    const { request } = errand;
    const { ready, held } = await this.take(errand, key);
    if (request.op === "files") return this.lookAfter(ready, held, errand, request.work);
    if (request.op === "park") return this.park(ready, errand);
    const { vfs, stdout, stderr } = ready;
    stdout.clear();
    stderr.clear();
    const mark = vfs.mark();
    const written = vfs.bytesWritten;
    this.limitStorage(ready, errand, written);
    started();
    const begun = performance.now();
    this.deadline = begun + errand.timeout_ms;
    this.outlet = errand.streams === true ? new Outlet((pieces) => this.tell({ kind: "output", pieces })) : null;
    const execution = await this.carryOut(ready, errand, request);
    const duration_ms = performance.now() - begun;
    this.outlet?.flush();
    this.outlet = null;
    const { created, modified } = vfs.changes(mark);
    const bytes_written = vfs.bytesWritten - written;
    const { bytesRefused: bytes_refused, pathRefused } = vfs.storage;
    this.limitStorage(ready, { setup: errand.setup }, written);
    const left = this.leave(ready, execution, errand);
    return {
      execution,
      stdout: { bytes: stdout.bytes(), truncated: stdout.truncated },
      stderr: { bytes: stderr.bytes(), truncated: stderr.truncated },
      duration_ms,
      files_created: created,
      files_modified: modified,
      bytes_written,
      bytes_refused,
      // Outside of the folders that may be written, most paths look as if they were not there.
      ...(pathRefused !== null &&
        (pathRefused.isReadOnly || !isWritable(pathRefused.path)) && { path_refused: pathRefused.path }),
      left,
      remembered: this.last !== null,
      basis: (this.parts.get(key) as GuestParts).basis,
      ...(ready.uncompiled.length > 0 && { uncompiled: ready.uncompiled }),
    };
  }

  /** A limit of one execution is for that one alone: before and after it, that of its session stands. */
  private limitStorage(
    { vfs }: Ready,
    { setup, storage_bytes }: Pick<Errand, "setup" | "storage_bytes">,
    written: number,
  ) {
    const { limits } = setup;
    vfs.limit({ bytesWritten: storage_bytes === undefined ? limits.storage_bytes : written + storage_bytes });
    vfs.storage.bytesRefused = 0;
    vfs.storage.pathRefused = null;
  }

  private async carryOut(ready: Ready, errand: Errand, request: Parameters<Ready["run"]>[0]): Promise<Execution> {
    try {
      const look = this.warning(errand);
      const allotted = this.allot(errand, (fuel) => ready.extend(fuel), look);
      const execution = await ready.run(request, allotted);
      // What was burnt since the last slice.
      look(execution.fuel_consumed, this.controls.extended);
      return execution;
    } catch (error) {
      ready.close();
      throw error;
    }
  }

  /** The guest of an errand. Whatever becomes of it, the thread remembers nothing until it is said again. */
  private async take(errand: Errand, key: string): Promise<Remembered> {
    const { last } = this;
    const { session, version, parked } = errand;
    this.last = null;
    if (parked === null && last?.ready.session === session && last.ready.version === version) return last;
    if (last !== null) this.giveBack(last);
    if (parked === null) throw new Error("the thread does not hold the session any more");
    return { ready: await this.make(errand, key), held: false };
  }

  /** Makes room for another session. */
  private giveBack({ ready, held }: Remembered): void {
    const { session, version } = ready;
    try {
      if (held) this.tell({ kind: "parked", session, parked: { version, guest: ready.park(true) } });
    } catch (error) {
      this.tell({ kind: "lost", session, version, message: error instanceof Error ? error.message : String(error) });
    }
    ready.close();
  }

  /** Where the session is after an execution, and whether the thread remembers it. */
  private leave(ready: Ready, execution: Execution, { version: before, setup }: Errand): Left {
    const version = before + 1;
    const { kind } = execution.outcome;
    if (kind === "pending") {
      this.last = { ready: { ...ready, version, hasMemory: true }, held: true };
      return { kind: "held", version };
    }
    // After a trap the guest's memory is of no use: with globals the session is as it was before, files and all, because
    // open files in that memory and the files themselves belong together; without, files stay as they are.
    const undone = kind === "trapped" && setup.autoPersistGlobals;
    const goesOn = kind !== "trapped" && setup.autoPersistGlobals;
    const left: Left = undone ? { kind: "undone" } : { kind: "parked", parked: { version, guest: ready.park(goesOn) } };
    if (goesOn && !ready.isOver()) this.last = { ready: { ...ready, version, hasMemory: true }, held: false };
    else ready.close();
    return left;
  }

  /** Does something with files; the guest itself does not notice. */
  private lookAfter(ready: Ready, held: boolean, errand: Errand, work: FileWork): Report {
    const version = errand.version + 1;
    const { found, failure } = attempt(() => handle(ready.vfs, work));
    const left: Left = held
      ? { kind: "held", version }
      : { kind: "parked", parked: { version, guest: ready.park(ready.hasMemory) } };
    if (ready.hasMemory) this.last = { ready: { ...ready, version }, held };
    else ready.close();
    return {
      ...NOTHING,
      left,
      remembered: this.last !== null,
      ...(found !== undefined && { found }),
      ...(failure !== undefined && { failure }),
    };
  }

  /** Gives back what is held, and remembers it all the same. */
  private park(ready: Ready, { version }: Errand): Report {
    const parked = { version, guest: ready.park(true) };
    this.last = { ready, held: false };
    return { ...NOTHING, left: { kind: "parked", parked }, remembered: true };
  }

  private async make(errand: Errand, key: string): Promise<Ready> {
    const parts = this.parts.get(key);
    if (parts === undefined) throw new Error(`the parts ${key} are missing`);
    const around: Around = {
      ...(await this.mountsOf(errand.setup, parts)),
      sleep: (ms) => this.sleep(ms),
      print: (stream, bytes) => this.outlet?.print(stream, bytes),
    };
    if (parts.language === "javascript") return readyJavaScript(errand, parts, around);
    const stdlib = this.libraries.get(key) ?? new ZipTree(parts.image.stdlib);
    this.libraries.set(key, stdlib);
    const { base, image } = parts;
    const memories = this.memories.get(key) ?? new Memories(base, image.pages, pagesOf(errand.setup.memoryLimit));
    this.memories.set(key, memories);
    return readyPython(errand, { ...parts, stdlib, memories }, around);
  }

  /** Lets a guest go on until its time or its fuel is used up, or somebody ends it. */
  private allot(
    errand: Errand,
    extend: (fuel: number) => void,
    look: (consumed: number, extended: number) => void,
  ): Allotted {
    this.controls = new Controls(errand.controls);
    let extended = 0;
    const onSlice = (consumed: number) => {
      this.controls.consumed = consumed;
      this.outlet?.flushIfDue();
      this.mayGoOn();
      const more = this.controls.extended - extended;
      extended += more;
      if (more > 0) extend(more);
      look(consumed, extended);
    };
    const { memory_bytes: memory } = errand;
    const most = { fuel: errand.fuel, ...(memory !== undefined && { memory }), onSlice };
    if (errand.warned === undefined) return most;
    // So often that thresholds of little fuel are seen one by one as well.
    const slice = Math.min(LARGEST_SLICE, Math.max(SMALLEST_SLICE, Math.floor(errand.fuel / SLICES)));
    return { ...most, slice };
  }

  /** Warns of thresholds, if somebody wants to know. */
  private warning({ warned, fuel }: Errand): (consumed: number, extended: number) => void {
    if (warned === undefined) return () => {};
    const thresholds = new Thresholds(warned, (warning) => {
      this.outlet?.flush();
      this.tell({ kind: "warning", warning });
    });
    const look = (consumed: number, extended: number) =>
      thresholds.look(warned.burnt + consumed, warned.burnt + fuel + extended);
    // The budget may have changed while the program waited.
    look(0, 0);
    return look;
  }

  private mayGoOn(): void {
    if (this.controls.cancelled) throw new Stopped("cancelled", "the execution was ended by its caller");
    if (performance.now() <= this.deadline) return;
    // What the program leaves may be much, and whoever watches the clock shall not take that for a guest that is stuck.
    this.tell({ kind: "stopping" });
    throw new Stopped("timeout", "the program ran longer than it was allowed to");
  }

  /** Sleeps no longer than the program may run, and ends at once when it is cancelled. */
  private sleep(ms: number): void {
    this.outlet?.flush();
    this.controls.asleep = true;
    const until = performance.now() + ms;
    for (let now = until - ms; now < until; now = performance.now()) {
      this.mayGoOn();
      this.controls.wait(Math.min(until, this.deadline) - now + TICK_MS);
    }
    this.mayGoOn();
    this.controls.asleep = false;
  }

  private async mountsOf(
    { mounts, packages }: Setup,
    parts: GuestParts,
  ): Promise<Pick<Around, "mounts" | "uncompiled">> {
    const all: Record<string, Mounts[string]> = {};
    for (const { path, folder, readOnly } of mounts) {
      all[path] = { kind: "directory", path: folder, writable: readOnly === false };
    }
    if (packages.length === 0) return { mounts: all, uncompiled: [] };
    const tree = await openPackages(this.packages, packages, tagOf(parts));
    all[SITE_PACKAGES] = { kind: "tree", tree };
    return { mounts: all, uncompiled: tree.uncompiled };
  }
}

const SLICES = 100;
const SMALLEST_SLICE = 100_000;
const LARGEST_SLICE = 10_000_000;

/** A wait that ends a little too early would be followed by many short ones. */
const TICK_MS = 0.1;

function attempt<Value>(work: () => Value): { readonly found?: Value; readonly failure?: string } {
  try {
    return { found: work() };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Compiled files belong to a version of the interpreter. */
function tagOf(parts: GuestParts): { readonly cacheTag?: string } {
  if (parts.language !== "python") return {};
  const [major, minor] = parts.manifest.version.split(".");
  return { cacheTag: `cpython-${major}${minor}` };
}

import { JavaScriptGuest } from "../javascript/guest.js";
import { openPackages } from "../packages/tree.js";
import { PythonGuest, type PythonParts } from "../python/python-guest.js";
import { FIXED_CLOCK } from "../python/python-image.js";
import { Output } from "../wasi/output.js";
import { restoreVfs, saveVfs } from "../wasi/saved-vfs.js";
import { type Mounts, Vfs } from "../wasi/vfs.js";
import { ZipTree } from "../wasi/zip-tree.js";
import { type Allotted, type Execution, Stopped } from "../wasm/outcome.js";
import { Controls, type Errand, type FileWork, type ParkedGuest, type Report } from "./errand.js";
import { absolute, handle, write } from "./files.js";
import type { Setup } from "./options.js";
import { type GuestParts, pagesOf } from "./parts.js";

const EMPTY = { bytes: new Uint8Array(), truncated: false };
const NOTHING: Omit<Report, "parked" | "remembered"> = {
  execution: { outcome: { kind: "ended", exit_code: 0 }, imports: [], fuel_consumed: 0, memory_bytes: 0 },
  ...{ stdout: EMPTY, stderr: EMPTY, duration_ms: 0, files_created: [], files_modified: [], bytes_written: 0 },
};

const NAP_MS = 2;
const IDLE = new Int32Array(new SharedArrayBuffer(4));

/** Where vendored packages are seen by guests. */
const SITE_PACKAGES = "/data/site-packages";

/** A guest with its session, ready for the next execution. */
interface Ready {
  readonly session: string;
  readonly version: number;
  readonly vfs: Vfs;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether its memory differs from the image in something that matters. */
  readonly hasMemory: boolean;
  run(errand: Errand, allotted: Allotted): Execution | Promise<Execution>;
  extend(fuel: number): void;
  /** Whether its program has left its memory in a state that nobody can go on with. */
  isOver(): boolean;
  /** What lives on; without the guest's memory, only its files do. */
  park(memory: boolean): ParkedGuest;
}

/** Runs executions in this thread, one at a time, and remembers the last guest in case it is asked for again. */
export class Engine {
  private readonly packages: string;
  private readonly parts = new Map<string, GuestParts>();
  private readonly libraries = new Map<string, ZipTree>();
  private last: Ready | null = null;
  /** When the execution under way has to end. */
  private deadline = 0;
  private controls = new Controls();

  /** `packages` is the folder with vendored packages. */
  constructor(packages: string) {
    this.packages = packages;
  }

  learn(key: string, parts: GuestParts): void {
    this.parts.set(key, parts);
  }

  /** `started` is told when the guest begins, which is when its time does. */
  async run(errand: Errand, key: string, started: () => void): Promise<Report> {
    const ready = await this.ready(errand, key);
    this.last = null;
    if (errand.request.op === "files") return this.lookAfter(ready, errand, errand.request.work);
    const { vfs, stdout, stderr } = ready;
    stdout.clear();
    stderr.clear();
    const mark = vfs.mark();
    const written = vfs.bytesWritten;
    started();
    const begun = performance.now();
    this.deadline = begun + errand.timeout_ms;
    const execution = await ready.run(
      errand,
      this.allot(errand, (fuel) => ready.extend(fuel)),
    );
    const duration_ms = performance.now() - begun;
    const { created, modified } = vfs.changes(mark);
    const guest = parkedAfter(ready, execution, errand.setup);
    const version = errand.version + 1;
    const goesOn = guest !== null && keeps(execution, errand.setup) && !ready.isOver();
    if (goesOn) this.last = { ...ready, version, hasMemory: true };
    return {
      execution,
      stdout: { bytes: stdout.bytes(), truncated: stdout.truncated },
      stderr: { bytes: stderr.bytes(), truncated: stderr.truncated },
      duration_ms,
      files_created: created,
      files_modified: modified,
      bytes_written: vfs.bytesWritten - written,
      parked: guest === null ? null : { version, guest },
      remembered: this.last !== null,
      basis: (this.parts.get(key) as GuestParts).basis,
    };
  }

  /** Does something with files; the guest itself does not notice. */
  private lookAfter(ready: Ready, errand: Errand, work: FileWork): Report {
    const found = handle(ready.vfs, work);
    const version = errand.version + 1;
    const guest = ready.park(ready.hasMemory);
    if (ready.hasMemory) this.last = { ...ready, version };
    return {
      ...NOTHING,
      parked: { version, guest },
      remembered: this.last !== null,
      ...(found !== undefined && { found }),
    };
  }

  private async ready(errand: Errand, key: string): Promise<Ready> {
    const { last } = this;
    if (errand.parked === null && last?.session === errand.session && last.version === errand.version) return last;
    const parts = this.parts.get(key);
    if (parts === undefined) throw new Error(`the parts ${key} are missing`);
    const mounts = await this.mountsOf(errand.setup, parts);
    return parts.language === "python" ? this.python(errand, key, parts, mounts) : javascript(errand, parts, mounts);
  }

  /** Lets a guest go on until its time or its fuel is used up, or somebody ends it. */
  private allot(errand: Errand, extend: (fuel: number) => void): Allotted {
    this.controls = new Controls(errand.controls);
    let extended = 0;
    const onSlice = (consumed: number) => {
      this.controls.consumed = consumed;
      this.mayGoOn();
      const more = this.controls.extended - extended;
      extended += more;
      if (more > 0) extend(more);
    };
    return { fuel: errand.fuel, onSlice };
  }

  private mayGoOn(): void {
    if (this.controls.cancelled) throw new Stopped("cancelled", "the execution was ended by its caller");
    if (performance.now() > this.deadline)
      throw new Stopped("timeout", "the program ran longer than it was allowed to");
  }

  /** Sleeps in small pieces, so that a sleeping program can be ended. */
  private sleep(ns: bigint): void {
    const until = performance.now() + Number(ns) / 1e6;
    for (let left = until - performance.now(); left > 0; left = until - performance.now()) {
      this.mayGoOn();
      Atomics.wait(IDLE, 0, 0, Math.min(NAP_MS, left));
    }
  }

  private async mountsOf({ mounts, packages }: Setup, parts: GuestParts): Promise<Mounts> {
    const all: Record<string, Mounts[string]> = {};
    for (const { path, folder, readOnly } of mounts) {
      all[path] = { kind: "directory", path: folder, writable: readOnly === false };
    }
    if (packages.length > 0) {
      const tree = await openPackages(this.packages, packages, tagOf(parts));
      all[SITE_PACKAGES] = { kind: "tree", tree };
    }
    return all;
  }

  private python(
    errand: Errand,
    key: string,
    parts: Extract<GuestParts, { language: "python" }>,
    mounts: Mounts,
  ): Ready {
    const { setup, parked } = errand;
    const stdlib = this.libraries.get(key) ?? new ZipTree(parts.image.stdlib);
    this.libraries.set(key, stdlib);
    const state = parked?.guest?.language === "python" ? parked.guest.state : undefined;
    const shared: PythonParts = { ...parts, stdlib };
    const { limits, deterministic } = setup;
    const guest = new PythonGuest(
      shared,
      {
        mounts,
        memoryPages: pagesOf(setup.memoryLimit),
        limits: {
          ...{ bytesWritten: limits.storage_bytes, files: limits.files, descriptors: limits.descriptors },
          ...{ stdoutBytes: limits.stdout_bytes, stderrBytes: limits.stderr_bytes },
        },
        ...(deterministic && { clock: FIXED_CLOCK, random: { kind: "seeded", seed: "session" } as const }),
        sleep: (ns) => this.sleep(ns),
      },
      state,
    );
    const { host } = guest;
    if (parked?.guest == null) {
      bring(setup, host.vfs);
      host.reseed(deterministic ? { kind: "seeded", seed: "session" } : "real");
    }
    if (state?.pages == null) guest.prepare({ paths: setup.autoPath ? [SITE_PACKAGES] : [], env: setup.env });
    return {
      ...{ session: errand.session, version: errand.version, vfs: host.vfs, stdout: host.stdout, stderr: host.stderr },
      hasMemory: state?.pages != null,
      run: ({ request }, allotted) => {
        if (request.op === "files") throw new Error("files are no program");
        if (request.op === "resume") return guest.resume(request.answer, allotted);
        host.stdin.replace(request.stdin ?? new Uint8Array());
        const { code, argv, interactive } = request;
        return guest.begin({ code, argv, interactive }, allotted);
      },
      extend: (fuel) => guest.extend(fuel),
      isOver: () => guest.isOver,
      park: (memory) => ({ language: "python", state: guest.save({ memory }) }),
    };
  }
}

function javascript(errand: Errand, parts: Extract<GuestParts, { language: "javascript" }>, mounts: Mounts): Ready {
  const { setup, parked } = errand;
  const { limits, deterministic, env, memoryLimit } = setup;
  const storage = { bytesWritten: limits.storage_bytes, files: limits.files };
  const kept = parked?.guest?.language === "javascript" ? parked.guest : null;
  const vfs =
    kept === null ? new Vfs({ limits: storage, mounts }) : restoreVfs(kept.files, { limits: storage, mounts }).vfs;
  if (kept === null) {
    for (const folder of ["/app", "/tmp", "/data"]) vfs.mkdir(folder, { recursive: true });
    bring(setup, vfs);
  }
  const options = {
    ...{ files: vfs, memoryLimitBytes: memoryLimit, environment: env, persist: setup.autoPersistGlobals },
    ...(deterministic && { clock: FIXED_CLOCK, random: { kind: "seeded", seed: "session" } as const }),
  };
  const state = kept?.state ?? null;
  const guest =
    state === null
      ? JavaScriptGuest.create(parts.image, options)
      : JavaScriptGuest.restore(parts.image, state, options);
  const [stdout, stderr] = [new Output(limits.stdout_bytes), new Output(limits.stderr_bytes)];
  return {
    ...{ session: errand.session, version: errand.version, vfs, stdout, stderr, hasMemory: state !== null },
    run: ({ request }, allotted) => {
      const common = { ...allotted, stdout, stderr };
      if (request.op === "files") throw new Error("files are no program");
      if (request.op === "resume") return guest.resume([request.answer], common);
      const { argv, stdin, interactive } = request;
      return guest.execute(request.code, { ...common, argv, interactive, stdin: stdin ?? new Uint8Array() });
    },
    extend: (fuel) => guest.extend(fuel),
    isOver: () => false,
    park: (memory) => ({
      language: "javascript",
      state: memory ? guest.save() : null,
      files: saveVfs(vfs, []).saved,
    }),
  };
}

/** Compiled files belong to a version of the interpreter. */
function tagOf(parts: GuestParts): { readonly cacheTag?: string } {
  if (parts.language !== "python") return {};
  const [major, minor] = parts.manifest.version.split(".");
  return { cacheTag: `cpython-${major}${minor}` };
}

/** Puts the files there that a session starts with. */
function bring({ files }: Setup, vfs: Vfs): void {
  for (const [path, contents] of Object.entries(files)) {
    write(vfs, absolute(path), typeof contents === "string" ? new TextEncoder().encode(contents) : contents);
  }
}

/** Whether the guest's memory matters after an execution: because it waits for an answer, or because globals live on. */
function keeps({ outcome }: Execution, { autoPersistGlobals }: Setup): boolean {
  return outcome.kind === "pending" || (outcome.kind !== "trapped" && autoPersistGlobals);
}

/**
 * What is left of a session. After a trap the guest's memory is of no use: with globals the session is as it was before, files
 * and all, because open files in that memory and the files themselves belong together; without, files stay as they are.
 */
function parkedAfter(ready: Ready, execution: Execution, setup: Setup): ParkedGuest | null {
  if (execution.outcome.kind === "trapped" && setup.autoPersistGlobals) return null;
  return ready.park(keeps(execution, setup));
}

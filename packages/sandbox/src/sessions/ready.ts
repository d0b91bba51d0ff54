import { WRITABLE_FOLDERS } from "../guests/guest-folders.js";
import { JavaScriptGuest } from "../javascript/guest.js";
import { PythonGuest, type PythonParts } from "../python/python-guest.js";
import { FIXED_CLOCK } from "../python/python-image.js";
import { Output } from "../wasi/output.js";
import { restoreVfs, saveVfs } from "../wasi/saved-vfs.js";
import { type Mounts, Vfs } from "../wasi/vfs.js";
import type { Allotted, Execution } from "../wasm/outcome.js";
import type { Errand, OutputBytes, Parked, ParkedGuest, Request } from "./errand.js";
import { absolute, write } from "./files.js";
import type { Setup } from "./options.js";
import { type GuestParts, pagesOf } from "./parts.js";

/** A guest with its session, ready for the next execution. */
export interface Ready {
  readonly session: string;
  readonly version: number;
  readonly vfs: Vfs;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether its memory differs from the image in something that matters. */
  readonly hasMemory: boolean;
  /** Mounted packages that are not compiled for it. */
  readonly uncompiled: readonly string[];
  run(request: Extract<Request, { op: "begin" | "resume" }>, allotted: Allotted): Execution | Promise<Execution>;
  extend(fuel: number): void;
  /** Whether its program has left its memory in a state that nobody can go on with. */
  isOver(): boolean;
  /** What lives on; without the guest's memory, only its files do, and the guest is of no more use. */
  park(memory: boolean): ParkedGuest;
  /** Closes what it has open on this machine. It must not be used any more. */
  close(): void;
}

/** What a guest finds around it. */
export interface Around {
  readonly mounts: Mounts;
  readonly uncompiled: readonly string[];
  /** Blocks the thread; what it throws ends the guest. */
  readonly sleep: (ms: number) => void;
  /** Told what is printed, as far as it is kept. */
  readonly print: (stream: OutputBytes["stream"], bytes: Uint8Array) => void;
}

/** Where vendored packages are seen by guests. */
export const SITE_PACKAGES = "/data/site-packages";

const NS_PER_MS = 1e6;

export function readyPython(
  { session, version, setup, parked }: Errand,
  parts: PythonParts,
  { mounts, uncompiled, sleep, print }: Around,
): Ready {
  const state = parked?.guest?.language === "python" ? parked.guest.state : undefined;
  const { limits, deterministic } = setup;
  const guest = new PythonGuest(
    parts,
    {
      mounts,
      memoryPages: pagesOf(setup.memoryLimit),
      limits: {
        bytesWritten: limits.storage_bytes,
        files: limits.files,
        descriptors: limits.descriptors,
        stdoutBytes: limits.stdout_bytes,
        stderrBytes: limits.stderr_bytes,
      },
      ...fixed(deterministic),
      sleep: (ns) => sleep(Number(ns) / NS_PER_MS),
      stdout: (bytes) => print("stdout", bytes),
      stderr: (bytes) => print("stderr", bytes),
    },
    state,
  );
  const { host } = guest;
  if (parked?.guest == null) {
    bring(parked, host.vfs);
    host.reseed(fixed(deterministic).random ?? "real");
  }
  if (state?.pages == null) guest.prepare({ paths: setup.autoPath ? [SITE_PACKAGES] : [], env: setup.env });
  return {
    session,
    version,
    vfs: host.vfs,
    stdout: host.stdout,
    stderr: host.stderr,
    hasMemory: state?.pages != null,
    uncompiled,
    run: (request, allotted) => {
      if (request.op === "resume") return guest.resume(request.answer, allotted);
      host.stdin.replace(request.stdin ?? new Uint8Array());
      const { code, argv, interactive } = request;
      return guest.begin({ code, argv, interactive }, allotted);
    },
    extend: (fuel) => guest.extend(fuel),
    isOver: () => guest.isOver,
    park: (memory) => ({ language: "python", state: guest.save({ memory }) }),
    close: () => guest.close(),
  };
}

export function readyJavaScript(
  { session, version, setup, parked }: Errand,
  parts: Extract<GuestParts, { language: "javascript" }>,
  { mounts, uncompiled, sleep, print }: Around,
): Ready {
  const { limits, deterministic, env, memoryLimit } = setup;
  const storage = { bytesWritten: limits.storage_bytes, files: limits.files };
  const kept = parked?.guest?.language === "javascript" ? parked.guest : null;
  const vfs =
    kept === null ? new Vfs({ limits: storage, mounts }) : restoreVfs(kept.files, { limits: storage, mounts }).vfs;
  if (kept === null) {
    for (const folder of [...WRITABLE_FOLDERS, "/data"]) vfs.mkdir(folder, { recursive: true });
  }
  vfs.confineWrites(WRITABLE_FOLDERS);
  if (kept === null) bring(parked, vfs);
  const options = {
    files: vfs,
    memoryLimitBytes: memoryLimit,
    environment: env,
    persist: setup.autoPersistGlobals,
    sleep,
    ...fixed(deterministic),
  };
  const state = kept?.state ?? null;
  const guest =
    state === null
      ? JavaScriptGuest.create(parts.image, options)
      : JavaScriptGuest.restore(parts.image, state, options);
  const stdout = new Output(limits.stdout_bytes, (bytes) => print("stdout", bytes));
  const stderr = new Output(limits.stderr_bytes, (bytes) => print("stderr", bytes));
  return {
    session,
    version,
    vfs,
    stdout,
    stderr,
    hasMemory: state !== null,
    uncompiled,
    run: (request, allotted) => {
      const common = { ...allotted, stdout, stderr };
      if (request.op === "resume") return guest.resume([request.answer], common);
      const { code, argv, stdin, interactive } = request;
      return guest.execute(code, { ...common, argv, interactive, stdin: stdin ?? new Uint8Array() });
    },
    extend: (fuel) => guest.extend(fuel),
    isOver: () => false,
    park: (memory) => ({
      language: "javascript",
      state: memory ? guest.save() : null,
      files: saveVfs(vfs, []).saved,
    }),
    // Its files are opened for every question, and closed with the answer.
    close: () => {},
  };
}

/** The clock and the chance of a program that is to do the same every time. */
function fixed(deterministic: Setup["deterministic"]) {
  if (deterministic === false) return {};
  const { instant = null, seed = "session" } = deterministic === true ? {} : deterministic;
  const clock = instant === null ? FIXED_CLOCK : { ...FIXED_CLOCK, startNs: BigInt(instant) * 1_000_000n };
  return { clock, random: { kind: "seeded", seed } as const };
}

/** Puts the files there that a session starts with. */
function bring(parked: Parked | null, vfs: Vfs): void {
  for (const [path, contents] of Object.entries(parked?.files ?? {})) {
    write(vfs, absolute(path), typeof contents === "string" ? new TextEncoder().encode(contents) : contents);
  }
}

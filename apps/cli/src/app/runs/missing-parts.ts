import {
  type ApprovalRequest,
  type Bursar,
  type GuestSource,
  guestProgram,
  openBursar,
  type Program,
  ProgramChangedError,
  type ProgramRef,
  type RunRecord,
  readRun,
  type Store,
} from "bursar";
import type { Environment } from "../environment.js";
import { LazySandbox } from "../equipment/lazy-sandbox.js";
import { digestModule } from "../programs/module-code.js";
import { bareSource, needsOf } from "../programs/program-needs.js";

/**
 * Opens what can tell what this machine lacks to go on with runs: the key and the packages of the sandbox, and the code of modules as they
 * stand on the disk. It executes none of them.
 */
export async function openLooking(
  store: Store,
  { env }: { readonly env: Environment },
  runs: readonly string[],
): Promise<Looking> {
  const sandbox = new LazySandbox(env);
  const codes = new Map<string, string>();
  for await (const { program } of withThoseAbove(store, runs)) {
    const code = await codeOnDisk(program);
    if (code !== null) codes.set(program.digest, code);
  }
  const bursar = openBursar({ store, revive: (ref) => programToLookAt(ref, sandbox, codes) });
  return {
    bursar,
    [Symbol.asyncDispose]: async () => {
      await bursar[Symbol.asyncDispose]();
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

interface Looking extends AsyncDisposable {
  readonly bursar: Bursar;
}

function programToLookAt(ref: ProgramRef, sandbox: LazySandbox, codes: ReadonlyMap<string, string>): Program {
  if (ref.kind === "guest" && ref.source !== null) {
    return guestProgram(ref.name, bareSource(ref) as unknown as GuestSource, sandbox.open);
  }
  // Whether somebody has given it to a worker is not known here; where its file was changed is.
  const code = codes.get(ref.digest) ?? ref.code;
  const play = () => ({ result: new Promise<never>(() => {}) });
  return { ...ref, ...(code !== undefined && { code }), play };
}

/**
 * The code of the module that an agent came from, as it is now; null where none of its modules has changed, or not all of them are on this
 * machine.
 */
async function codeOnDisk(ref: ProgramRef): Promise<string | null> {
  if (ref.code === undefined) return null;
  const flags = needsOf(ref)?.flags ?? [];
  const files = flags.filter((_, index) => flags[index - 1] === "--module");
  const digests = await Promise.all(files.map((file) => digestModule(file)));
  return digests.includes(null) || digests.includes(ref.code) ? null : (digests[0] ?? null);
}

/**
 * Throws where a module on this machine was changed since a run was driven that waits for this answer, or one above it: whoever decides
 * without driving would learn of it too late.
 */
export async function checkModules(store: Store, { waiting }: ApprovalRequest): Promise<void> {
  const runs = waiting.flatMap(({ run }) => run ?? []);
  for await (const { id, program } of withThoseAbove(store, runs)) {
    if ((await codeOnDisk(program)) !== null) throw new ProgramChangedError(id, program.name);
  }
}

/** Runs, and those above them, once each. */
async function* withThoseAbove(store: Store, runs: readonly string[]): AsyncIterable<RunRecord> {
  const seen = new Set<string>();
  for (const run of runs) {
    for (let id: string | null = run; id !== null && !seen.has(id); ) {
      seen.add(id);
      const document = await store.document("run", id);
      if (document === null) break;
      const found = readRun(document);
      yield found;
      id = found.parent;
    }
  }
}

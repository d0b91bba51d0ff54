import type { TrapReason } from "../analysis/result.js";
import type { CacheTag, Compile, SourceFile } from "../packages/compiled.js";
import { openSandbox, type Sandbox, type SandboxOptions } from "./sandbox.js";
import type { SandboxSession } from "./sandbox-session.js";

export interface GuestCompilerOptions {
  readonly sandbox?: SandboxOptions;
  /** Told how many bytes of the sources at hand have been compiled. */
  readonly progress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** What is compiled at once: so little that memory stays small and progress can be seen. */
const BATCH_BYTES = 256 * KIB;
const BATCH_FILES = 64;
/** Larger sources are tables of data rather than modules, and the parser would need gigabytes for them. */
const MOST_SOURCE_BYTES = 4 * MIB;
const FUEL = 1_000_000_000_000;
const TIMEOUT_MS = 10 * 60_000;
const OUTPUT_BYTES = 64 * MIB;
const SITE_PACKAGES = "/data/site-packages";
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** What a source can do to the compiler without being anybody's fault: it is left as it is. */
const TOO_MUCH: readonly (TrapReason | null)[] = [
  "out_of_fuel",
  "memory_limit",
  "stack_overflow",
  "unreachable",
  "timeout",
];

const TAG_PROGRAM = "import sys; print(sys.implementation.cache_tag, end='')";

/**
 * One line for each source, empty where there is no code in it. The path in the code is the one that the guest will see, for its
 * tracebacks. The mark 1 is that of a file which is never compared with its source (PEP 552): both are mounted read-only.
 */
const COMPILE_PROGRAM = `import base64, json, marshal, sys
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, source_hash

for path, text in json.load(sys.stdin):
    source = base64.b64decode(text)
    try:
        code = SourceFileLoader("", path).source_to_code(source, path)
        file = MAGIC_NUMBER + (1).to_bytes(4, "little") + source_hash(source) + marshal.dumps(code)
    except Exception:
        file = b""
    print(base64.b64encode(file).decode())
`;

/**
 * Compiles Python for the guest, in the guest. It is opened with the first source, and holds a process until it is disposed of.
 *
 * @example
 * ```ts
 * await using compiler = new GuestCompiler();
 * await addPackages(["openpyxl"], { folder, compile: compiler.compile, cacheTag: await compiler.tag() });
 * ```
 */
export class GuestCompiler implements AsyncDisposable {
  private readonly options: GuestCompilerOptions;
  private opened: Promise<Sandbox> | null = null;

  constructor(options: GuestCompilerOptions = {}) {
    this.options = options;
  }

  /** What the guest calls its byte code: another version of Python does not read it. */
  async tag(): Promise<CacheTag> {
    const session = await this.session();
    const { success, stdout, stderr } = await session.execute(TAG_PROGRAM, this.signal());
    await session.destroy();
    if (!success) throw new Error(`the guest does not say what its byte code is called. ${stderr.slice(-500)}`.trim());
    return stdout;
  }

  /** A source that cannot be compiled, because it is for another Python or too large, is missing in what comes back. */
  readonly compile: Compile = async (files) => {
    const compiled = new Map<string, Uint8Array>();
    const total = files.reduce((sum, { source }) => sum + source.length, 0);
    let done = 0;
    const session = await this.session();
    for (const batch of batchesOf(files)) {
      for (const [path, bytes] of await this.compileBatch(session, batch)) compiled.set(path, bytes);
      done += batch.reduce((sum, { source }) => sum + source.length, 0);
      this.options.progress?.(done, total);
    }
    await session.destroy();
    return compiled;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await this.opened?.catch(() => null);
    this.opened = null;
    await opened?.[Symbol.asyncDispose]();
  }

  /** Where one source of several is too much, halves show which it is; the others are compiled. */
  private async compileBatch(
    session: SandboxSession,
    batch: readonly SourceFile[],
  ): Promise<readonly (readonly [string, Uint8Array])[]> {
    const fitting = batch.filter(({ source }) => source.length <= MOST_SOURCE_BYTES);
    if (fitting.length === 0) return [];
    const stdin = JSON.stringify(
      fitting.map(({ path, source }) => [`${SITE_PACKAGES}/${path}`, Buffer.from(source).toString("base64")]),
    );
    const result = await session.execute(COMPILE_PROGRAM, { stdin, ...this.signal() });
    this.options.signal?.throwIfAborted();
    const files = result.success ? filesIn(result.stdout, fitting) : null;
    if (files !== null) return files;
    const { trap_reason, trap_message } = result.metadata;
    if (!TOO_MUCH.includes(trap_reason)) {
      throw new Error(`the guest cannot compile: ${trap_message ?? result.stderr.slice(-500)}`);
    }
    if (fitting.length === 1) return [];
    const middle = fitting.length >> 1;
    return [
      ...(await this.compileBatch(session, fitting.slice(0, middle))),
      ...(await this.compileBatch(session, fitting.slice(middle))),
    ];
  }

  private async session(): Promise<SandboxSession> {
    this.opened ??= openSandbox({ workers: 1, ...this.options.sandbox });
    return (await this.opened).createSession({
      language: "python",
      fuelBudget: FUEL,
      timeout: TIMEOUT_MS,
      deterministic: true,
      limits: { stdout_bytes: OUTPUT_BYTES },
    });
  }

  private signal(): { readonly signal?: AbortSignal } {
    const { signal } = this.options;
    return signal === undefined ? {} : { signal };
  }
}

function batchesOf(files: readonly SourceFile[]): readonly (readonly SourceFile[])[] {
  const batches: SourceFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = batches.at(-1);
    const fits = last !== undefined && last.length < BATCH_FILES && bytes + file.source.length <= BATCH_BYTES;
    if (fits) last.push(file);
    else batches.push([file]);
    bytes = file.source.length + (fits ? bytes : 0);
  }
  return batches;
}

/** The lines as bytes, by path; null when it is not one line for each file. */
function filesIn(stdout: string, files: readonly SourceFile[]): readonly (readonly [string, Uint8Array])[] | null {
  const lines = stdout.split("\n").slice(0, -1);
  if (lines.length !== files.length || !lines.every((line) => BASE64.test(line))) return null;
  return files.flatMap(({ path }, at) => {
    const bytes = Buffer.from(lines[at] ?? "", "base64");
    return bytes.length === 0 ? [] : [[path, bytes] as const];
  });
}

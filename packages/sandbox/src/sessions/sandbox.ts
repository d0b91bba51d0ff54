import { mkdirSync, realpathSync } from "node:fs";
import { availableParallelism } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import type { SandboxResult } from "../analysis/result.js";
import { npmPythonFile } from "../python/python-manifest.js";
import type { Answer, HostCall } from "../wasm/outcome.js";
import type { FileEntry } from "./errand.js";
import type { Keeping, SessionInfo } from "./keeper.js";
import { type ExecuteOptions, type Mount, SandboxInputError, type SessionOptions, setupOf, whole } from "./options.js";
import { defaultPlaces } from "./places.js";
import { Remote } from "./remote.js";
import type { Settings, Turn } from "./session.js";
import { keyIn, sign, verified } from "./signed.js";

export interface SandboxOptions {
  /** Where rewritten modules and images are kept: the cache folder of the platform unless it says otherwise. */
  readonly cacheFolder?: string;
  readonly packagesFolder?: string;
  /** `fast` takes the build of `npm run build:guest` where there is one, `npm` never does; `fast` unless it says otherwise. */
  readonly guest?: "fast" | "npm";
  /** The file with the key that signs saved sessions; it is made when it is not there. */
  readonly keyFile?: string;
  /** Real folders that sessions may mount, or parts of. */
  readonly folders?: readonly { readonly path: string; readonly writable?: boolean }[];
  /** How many programs run at the same time: as many as there are processors, at most 8, unless it says otherwise. */
  readonly workers?: number;
  readonly mostSessions?: number;
  /** A session that nobody used for so long is destroyed: half an hour unless it says otherwise. */
  readonly idleTimeout?: number;
  /** `process` puts guests into a process that Node lets do nothing else; `thread` leaves them in this one. */
  readonly isolation?: "process" | "thread";
}

/** Answers a guest's questions, by their names. What it throws, the guest sees as an error. */
export type Handlers = Readonly<Record<string, (args: unknown) => unknown>>;

export interface RunOptions extends ExecuteOptions {
  readonly handlers?: Handlers;
}

const HALF_HOUR = 30 * 60_000;
const MOST_SESSIONS = 1000;
const PROGRESS_MS = 100;

/**
 * Opens a sandbox for untrusted Python and JavaScript.
 *
 * @example
 * ```ts
 * await using sandbox = await openSandbox();
 * const session = await sandbox.createSession({ language: "python", fuelBudget: 1_000_000_000 });
 * const { stdout } = await session.execute("print(6 * 7)");
 * ```
 */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const places = defaultPlaces();
  const { workers = Math.min(8, availableParallelism()), mostSessions = MOST_SESSIONS } = options;
  const { idleTimeout = HALF_HOUR, isolation = "process" } = options;
  whole(workers, "workers", 1, 256);
  whole(mostSessions, "mostSessions", 1, 1_000_000);
  whole(idleTimeout, "idleTimeout", 1, Number.MAX_SAFE_INTEGER);
  const [cache, packages] = [options.cacheFolder ?? places.cache, options.packagesFolder ?? places.packages].map(made);
  const guests = (options.guest ?? guestFrom(process.env.BURSAR_GUEST)) === "npm" ? null : places.guests;
  const keeper = {
    python: realpathSync(npmPythonFile()),
    guests,
    cache: cache as string,
    packages: packages as string,
    workers,
    mostSessions,
    idle_ms: idleTimeout,
  };
  const folders = (options.folders ?? []).map(({ path, writable = false }) => ({ path: realpathSync(path), writable }));
  const key = () => keyIn(options.keyFile ?? places.key);
  if (isolation === "thread") {
    // Everything that guests need is behind this; with a process of their own it is not needed here.
    const { Keeper } = await import("./keeper.js");
    const local = new Keeper(keeper);
    return new Sandbox(local, local, folders, key);
  }
  const remote = new Remote(keeper, folders);
  return new Sandbox(remote.keeping, remote, folders, key);
}

function guestFrom(text: string | undefined): "fast" | "npm" {
  return text === "npm" ? "npm" : "fast";
}

/** Real paths, because that is what permissions are about. */
function made(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

/** Makes sessions, and holds them until they are destroyed, or nobody has used them for long. */
export class Sandbox implements AsyncDisposable {
  private readonly keeping: Keeping;
  private readonly process: AsyncDisposable;
  private readonly folders: readonly { readonly path: string; readonly writable: boolean }[];
  private readonly key: () => Promise<Uint8Array>;

  constructor(
    keeping: Keeping,
    process: AsyncDisposable,
    folders: readonly { readonly path: string; readonly writable: boolean }[],
    key: () => Promise<Uint8Array>,
  ) {
    this.keeping = keeping;
    this.process = process;
    this.folders = folders;
    this.key = key;
  }

  async createSession(options: SessionOptions): Promise<SandboxSession> {
    const setup = setupOf(options);
    const mounts = setup.mounts.map((mount) => this.allowed(mount));
    return this.handle(await this.keeping.create({ ...setup, mounts }));
  }

  /** A session that was saved, here or elsewhere with the same key; as often as one likes. */
  async restoreSession(bytes: Uint8Array): Promise<SandboxSession> {
    const kept = verified(bytes, await this.key());
    // What was allowed where it was saved need not be allowed here.
    for (const mount of kept.setup.mounts) this.allowed(mount);
    return this.handle(await this.keeping.adopt(kept));
  }

  /** A session by its id, as `session_id` names it. */
  session(id: string): SandboxSession {
    return this.handle(id);
  }

  sessions(): Promise<readonly SessionInfo[]> {
    return this.keeping.list();
  }

  /** Makes ready what the first session of a language would have to wait for. */
  async warm(language: SessionOptions["language"]): Promise<void> {
    await this.keeping.warm(setupOf({ language }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }

  private handle(id: string): SandboxSession {
    return new SandboxSession(id, this.keeping, this.key);
  }

  private allowed(mount: Mount): Mount {
    const folder = realpathSync(resolve(mount.folder));
    const inside = this.folders.find(({ path }) => {
      const way = relative(path, folder);
      return !way.startsWith("..") && !isAbsolute(way);
    });
    if (inside === undefined || (mount.readOnly === false && !inside.writable)) {
      const how = mount.readOnly === false ? "write to" : "mount";
      throw new SandboxInputError("mounts", `may not ${how} ${folder}; name it in openSandbox({ folders })`);
    }
    return { ...mount, folder };
  }
}

/** One guest with its files, and with its globals if they are to live on. */
export class SandboxSession {
  readonly id: string;
  private readonly keeping: Keeping;
  private readonly key: () => Promise<Uint8Array>;

  constructor(id: string, keeping: Keeping, key: () => Promise<Uint8Array>) {
    this.id = id;
    this.keeping = keeping;
    this.key = key;
  }

  /** Runs a program to its end. Questions it asks are answered by `handlers`; one without a handler is refused. */
  async execute(code: string, options: RunOptions = {}): Promise<SandboxResult> {
    const { handlers = {}, signal, onProgress, ...settings } = options;
    signal?.throwIfAborted();
    using _ = this.watch(signal, onProgress, settings);
    let turn = await this.keeping.begin(this.id, code, settings);
    let answers = new Map<number, Promise<Answer>>();
    while (turn.kind === "pending") {
      for (const call of turn.calls) answers.set(call.id, answerTo(call, handlers));
      const { open } = turn;
      // Only what the guest still waits for; a guest may say anything, also that it waits for what it never asked.
      answers = new Map([...answers].filter(([id]) => open.includes(id)));
      const unasked: Answer = {
        id: open[0] ?? 0,
        error: "this was never asked: its arguments are too deep or too many",
      };
      const answer = answers.size === 0 ? unasked : await Promise.race(answers.values());
      answers.delete(answer.id);
      turn = await this.keeping.resume(this.id, answer);
    }
    return turn.result;
  }

  /** Runs a program to its end or to its first question, at which it can be saved, and resumed elsewhere. */
  async begin(code: string, settings: Settings = {}): Promise<Turn> {
    return this.keeping.begin(this.id, code, settings);
  }

  async resume(answer: Answer): Promise<Turn> {
    return this.keeping.resume(this.id, answer);
  }

  /** Gives a program up that waits for an answer. */
  async drop(): Promise<void> {
    await this.keeping.drop(this.id);
  }

  /** Ends what is running. */
  async cancel(): Promise<void> {
    await this.keeping.cancel(this.id);
  }

  /** Lets what is running burn more, without a restart. */
  async extend(fuel: number): Promise<void> {
    await this.keeping.extend(this.id, fuel);
  }

  async writeFile(path: string, contents: string | Uint8Array): Promise<void> {
    const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
    await this.keeping.files(this.id, { kind: "write", path, bytes });
  }

  async readFile(path: string): Promise<Uint8Array> {
    return (await this.keeping.files(this.id, { kind: "read", path })) as Uint8Array;
  }

  /** All files and folders below one, `/app` unless it says otherwise. */
  async listFiles(path = "/app"): Promise<readonly FileEntry[]> {
    return (await this.keeping.files(this.id, { kind: "list", path })) as readonly FileEntry[];
  }

  async removeFile(path: string): Promise<void> {
    await this.keeping.files(this.id, { kind: "remove", path });
  }

  /** The session as one signed piece: its files, its globals, and the program that waits for an answer. */
  async save(): Promise<Uint8Array> {
    return sign(await this.keeping.keep(this.id), await this.key());
  }

  async destroy(): Promise<void> {
    await this.keeping.destroy(this.id);
  }

  private watch(
    signal: AbortSignal | undefined,
    onProgress: RunOptions["onProgress"],
    { fuelBudget = 0 }: Settings,
  ): Disposable {
    const cancel = () => void this.keeping.cancel(this.id).catch(() => {});
    signal?.addEventListener("abort", cancel, { once: true });
    const timer =
      onProgress === undefined
        ? null
        : setInterval(async () => onProgress(await this.keeping.consumed(this.id), fuelBudget), PROGRESS_MS).unref();
    return {
      [Symbol.dispose]() {
        signal?.removeEventListener("abort", cancel);
        if (timer !== null) clearInterval(timer);
      },
    };
  }
}

async function answerTo({ id, name, args }: HostCall, handlers: Handlers): Promise<Answer> {
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (handler === undefined) return { id, error: `the host offers nothing called ${name}` };
  try {
    return { id, value: (await handler(args)) ?? null };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

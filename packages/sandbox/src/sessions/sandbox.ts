import { realpathSync } from "node:fs";
import { availableParallelism } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import { quickjsFile } from "../javascript/quickjs-manifest.js";
import { installedPythonFolder, npmPythonFile } from "../python/python-manifest.js";
import { makePrivateFolder } from "../wasm/private-folder.js";
import { checkKeys, whole, wrong } from "./fields.js";
import { SandboxInputError } from "./input-error.js";
import type { KeeperOptions, Keeping, SessionInfo } from "./keeper.js";
import { type Mount, type SessionOptions, setupOf } from "./options.js";
import { defaultPlaces, type Places } from "./places.js";
import { Remote } from "./remote.js";
import { SandboxSession } from "./sandbox-session.js";
import { buildsIn } from "./saved-build.js";
import { SavedSessionError } from "./saved-session-error.js";
import type { Kept } from "./session.js";
import { fingerprintIn, keyIn, verified } from "./signed.js";
import { newSleepFolder, sweepSleepFolders } from "./sleep-folder.js";

export interface SandboxOptions {
  /** Where rewritten modules and images are kept: the cache folder of the platform unless it says otherwise. */
  readonly cacheFolder?: string;
  readonly packagesFolder?: string;
  /**
   * `fast` takes the build of `npm run build:guest`, or else the one in the package `@bursar/guest-cpython`, where there is one;
   * `npm` never does. `fast` unless it says otherwise.
   */
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
  /** A session that nobody used for so long sleeps on the disk until it is used: 30 seconds unless it says otherwise. */
  readonly sleepAfter?: number;
  /** What sessions may take of the memory between executions before the oldest go to sleep: 512 MiB unless it says otherwise. */
  readonly mostParkedBytes?: number;
  /** What sessions that are asleep may take of the disk: 16 GiB unless it says otherwise. */
  readonly mostAsleepBytes?: number;
  /** `process` puts guests into a process that Node lets do nothing else; `thread` leaves them in this one. */
  readonly isolation?: "process" | "thread";
}

const HALF_HOUR = 30 * 60_000;
const HALF_MINUTE = 30_000;
const MIB = 1024 * 1024;
const MOST_SESSIONS = 1000;
const OPTIONS = [
  "cacheFolder",
  "packagesFolder",
  "guest",
  "keyFile",
  "folders",
  "workers",
  "mostSessions",
  "idleTimeout",
  "sleepAfter",
  "mostParkedBytes",
  "mostAsleepBytes",
  "isolation",
];

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
  checkOptions(options);
  const places = defaultPlaces();
  const keeper = keeperOf(options, places);
  const folders = (options.folders ?? []).map(({ path, writable = false }) => ({ path: realpathSync(path), writable }));
  const keyFile = options.keyFile ?? places.key;
  await sweepSleepFolders(keeper.cache);
  if (options.isolation === "thread") {
    // Everything that guests need is behind this; with a process of their own it is not needed here.
    const { Keeper } = await import("./keeper.js");
    const local = new Keeper(keeper);
    return new Sandbox(local, local, folders, keyFile);
  }
  const remote = new Remote(keeper, folders);
  return new Sandbox(remote.keeping, remote, folders, keyFile);
}

function checkOptions(options: SandboxOptions): void {
  checkKeys(options, "", OPTIONS);
  const { isolation = "process", guest = "fast", folders = [] } = options;
  if (isolation !== "process" && isolation !== "thread") throw wrong("isolation", isolation, '"process" or "thread"');
  if (guest !== "fast" && guest !== "npm") throw wrong("guest", guest, '"fast" or "npm"');
  for (const folder of folders) checkKeys(folder, "folders", ["path", "writable"]);
}

function keeperOf(options: SandboxOptions, places: Places): KeeperOptions {
  const { workers = Math.min(8, availableParallelism()), mostSessions = MOST_SESSIONS } = options;
  const { idleTimeout = HALF_HOUR, sleepAfter = HALF_MINUTE } = options;
  const { mostParkedBytes = 512 * MIB, mostAsleepBytes = 16 * 1024 * MIB } = options;
  whole(workers, "workers", 1, 256);
  whole(mostSessions, "mostSessions", 1, 1_000_000);
  const most = Number.MAX_SAFE_INTEGER;
  whole(idleTimeout, "idleTimeout", 1, most);
  whole(sleepAfter, "sleepAfter", 1, most);
  whole(mostParkedBytes, "mostParkedBytes", 0, most);
  whole(mostAsleepBytes, "mostAsleepBytes", 0, most);
  const [cache, packages] = [options.cacheFolder ?? places.cache, options.packagesFolder ?? places.packages].map(made);
  const isFast = (options.guest ?? guestFrom(process.env.BURSAR_GUEST)) === "fast";
  return {
    // Where they really are: that is what permissions are about, and what a restricted process cannot find out.
    python: realpathSync(npmPythonFile()),
    quickjs: realpathSync(quickjsFile()),
    ...(isFast ? { guests: places.guests, installed: installedPythonFolder() } : { guests: null, installed: null }),
    cache: cache as string,
    packages: packages as string,
    workers,
    mostSessions,
    asleep: newSleepFolder(cache as string),
    mostParkedBytes,
    mostAsleepBytes,
    idle_ms: idleTimeout,
    sleep_ms: sleepAfter,
  };
}

function guestFrom(text: string | undefined): "fast" | "npm" {
  return text === "npm" ? "npm" : "fast";
}

/** Real paths, because that is what permissions are about. */
function made(folder: string): string {
  makePrivateFolder(folder);
  return realpathSync(folder);
}

/**
 * Names the key that a sandbox with these options signs saved sessions with, without opening one; null when there is none yet. Sandboxes
 * with the same fingerprint can restore each other's sessions.
 */
export function sandboxKeyFingerprint({ keyFile }: Pick<SandboxOptions, "keyFile"> = {}): Promise<string | null> {
  return fingerprintIn(keyFile ?? defaultPlaces().key);
}

/** Makes sessions, and holds them until they are destroyed, or nobody has used them for long. */
export class Sandbox implements AsyncDisposable {
  private readonly keeping: Keeping;
  private readonly process: AsyncDisposable;
  private readonly folders: readonly { readonly path: string; readonly writable: boolean }[];
  private readonly keyFile: string;

  constructor(
    keeping: Keeping,
    process: AsyncDisposable,
    folders: readonly { readonly path: string; readonly writable: boolean }[],
    keyFile: string,
  ) {
    this.keeping = keeping;
    this.process = process;
    this.folders = folders;
    this.keyFile = keyFile;
  }

  async createSession(options: SessionOptions): Promise<SandboxSession> {
    const setup = setupOf(options);
    const mounts = setup.mounts.map((mount) => this.allowed(mount));
    return this.handle(await this.keeping.create({ ...setup, mounts }));
  }

  /** A session that was saved, here or elsewhere with the same key; as often as one likes. */
  async restoreSession(bytes: Uint8Array): Promise<SandboxSession> {
    const kept = await verified(bytes, await keyIn(this.keyFile));
    // What was allowed where it was saved need not be allowed here.
    for (const mount of kept.setup.mounts) this.allowed(mount);
    const build = await this.keeping.build(kept.setup);
    if (savedBuilds(kept).some((each) => each !== build)) {
      const problem = "was saved with another build of the interpreter; only that build can go on with it";
      throw new SavedSessionError("build", problem);
    }
    return this.handle(await this.keeping.adopt(kept));
  }

  /** Names the key that saved sessions are signed with, without telling it; null when there is none yet. */
  keyFingerprint(): Promise<string | null> {
    return fingerprintIn(this.keyFile);
  }

  /** Why these packages cannot be mounted here, each in a sentence for people; nothing when all can. */
  packageProblems(packages: readonly string[]): Promise<readonly string[]> {
    return this.keeping.packageProblems(packages);
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
    return new SandboxSession(id, this.keeping, () => keyIn(this.keyFile));
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

function savedBuilds(kept: Kept): readonly string[] {
  try {
    return buildsIn(kept);
  } catch (error) {
    throw new SavedSessionError("damaged", `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

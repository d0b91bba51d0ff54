import type { Language, Sandbox, SandboxSession, SessionOptions } from "@bursar/sandbox";
import type { BudgetLimits } from "bursar";
import { ToolError } from "./said.js";
import { Turns } from "./turns.js";

export interface CodeSessionsOptions {
  readonly sandbox: () => Promise<Sandbox>;
  /** Where the packages are that sessions in Python get. */
  readonly packagesFolder: string;
}

/** What may be said about a session when it is made. */
export interface SessionWish {
  readonly language: Language;
  readonly fuel_budget?: number | undefined;
  readonly timeout_ms?: number | undefined;
  readonly memory_limit_mib?: number | undefined;
  readonly packages?: readonly string[] | undefined;
  readonly auto_persist_globals?: boolean | undefined;
}

/** A session as its owner knows it. Its id stays when the guest behind it is made anew. */
export interface CodeSession {
  readonly id: string;
  readonly language: Language;
  readonly fuel_budget: number;
  readonly timeout_ms: number;
  readonly memory_limit_mib: number;
  readonly packages: readonly string[];
  readonly auto_persist_globals: boolean;
  readonly created: number;
  readonly handle: SandboxSession;
}

/** Bounds that hold for every session, whatever a client asks for. */
export const BOUNDS = {
  sessions: 8,
  code_bytes: 1_048_576,
  file_bytes: 4_194_304,
  fuel: 1_000_000_000_000,
  timeout_ms: 300_000,
  memory_mib: 512,
  packages: 32,
} as const;

const FUEL = 10_000_000_000;
const TIMEOUT_MS = 60_000;
const MEMORY_MIB = 256;
const MIB = 1_048_576;
/** So much of a session is carried over when it is made anew. */
const MOST_FILES = 10_000;

/** A session that a call needs is not there, so that nothing was executed. */
export class SessionGone extends ToolError {
  constructor(id: string) {
    super(
      `There is no session ${JSON.stringify(id.slice(0, 80))} of yours: it was destroyed, or has expired.`,
      "call list_sessions for those there are, or create_session for a new one.",
    );
  }
}

/** The sessions of one principal: nobody else's are found here, whatever id is named. */
export class CodeSessions implements AsyncDisposable {
  /** The most fuel that one execution can be given. */
  readonly mostFuel: number;
  private readonly sandbox: () => Promise<Sandbox>;
  private readonly packagesFolder: string;
  private readonly sessions = new Map<string, CodeSession>();
  private readonly usual = new Map<Language, Promise<CodeSession>>();
  private readonly turns = new Turns();
  private making = 0;
  private closed = false;

  constructor({ sandbox, packagesFolder }: CodeSessionsOptions, limits: BudgetLimits) {
    this.sandbox = sandbox;
    this.packagesFolder = packagesFolder;
    this.mostFuel = Math.min(BOUNDS.fuel, limits.fuel ?? BOUNDS.fuel);
  }

  /** Those that there are. The sandbox ends by itself what nobody has used for half an hour. */
  async present(): Promise<readonly CodeSession[]> {
    if (this.sessions.size === 0) return [];
    // One that is made while we ask is not among those that are there.
    const known = [...this.sessions.values()];
    const there = new Set((await (await this.sandbox()).sessions()).map(({ id }) => id));
    for (const session of known) if (!there.has(session.handle.id)) this.forget(session);
    return [...this.sessions.values()];
  }

  /** What a session of this language gets unless it is said otherwise. */
  get usualFuel(): number {
    return Math.min(FUEL, this.mostFuel);
  }

  find(id: string): CodeSession {
    const session = this.sessions.get(id);
    if (session !== undefined) return session;
    throw new SessionGone(id);
  }

  /**
   * Does something with a session as it is when those who came earlier are done with it, and nobody else meanwhile. Whoever is
   * cancelled before that has only left the queue.
   */
  async inTurn<Value>(id: string, signal: AbortSignal, work: (session: CodeSession) => Promise<Value>): Promise<Value> {
    using _ = await this.turns.wait(id, signal);
    return await work(this.find(id));
  }

  /** The session for code that names none: one for each language, made when it is first needed. */
  ordinary(language: Language): Promise<CodeSession> {
    const anew = () => this.create({ language });
    const known = this.usual.get(language);
    const session = known === undefined ? anew() : known.then(({ id }) => this.sessions.get(id) ?? anew(), anew);
    this.usual.set(language, session);
    return session;
  }

  async create(wish: SessionWish): Promise<CodeSession> {
    if (this.sessions.size + this.making >= BOUNDS.sessions) await this.present();
    if (this.sessions.size + this.making >= BOUNDS.sessions || this.closed) {
      throw new ToolError(
        `You have ${BOUNDS.sessions} sessions, the most allowed.`,
        "destroy one that you do not need with destroy_session, or go on in one of them.",
      );
    }
    this.making++;
    try {
      const session = await this.made(wish, {}, null);
      if (this.closed) {
        await session.handle.destroy().catch(() => {});
        throw new ToolError("The connection is closing.", "connect again.");
      }
      this.sessions.set(session.id, session);
      return session;
    } finally {
      this.making--;
    }
  }

  /** Makes the guest of a session anew with the packages it is to have. Its files are carried over; its variables are not. */
  remake(
    id: string,
    wanted: (packages: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<CodeSession> {
    return this.inTurn(id, signal, async (old) => {
      const packages = wanted(old.packages);
      if (packages === old.packages) return old;
      // There are two guests of it for a while. Those who have all their sessions may do it all the same, one at a time for each.
      this.making++;
      try {
        return await this.replaced(old, packages);
      } finally {
        this.making--;
      }
    });
  }

  private async replaced(old: CodeSession, packages: readonly string[]): Promise<CodeSession> {
    const { language, fuel_budget, timeout_ms, memory_limit_mib, auto_persist_globals } = old;
    const entries = await old.handle.listFiles();
    const files: Record<string, Uint8Array> = {};
    for (const { path, kind } of entries.slice(0, MOST_FILES)) {
      if (kind === "file") files[path] = await old.handle.readFile(path);
    }
    const wish = { language, fuel_budget, timeout_ms, memory_limit_mib, auto_persist_globals, packages };
    const session = await this.made(wish, files, old);
    if (this.closed || this.sessions.get(old.id) !== old) {
      await session.handle.destroy().catch(() => {});
      throw new SessionGone(old.id);
    }
    this.sessions.set(old.id, session);
    await old.handle.destroy().catch(() => {});
    return session;
  }

  async destroy(id: string): Promise<void> {
    const { handle } = this.find(id);
    this.sessions.delete(id);
    // It may have expired by itself, and then there is nothing to be done.
    await handle.destroy().catch(() => {});
  }

  /** A session that the sandbox no longer has is forgotten here too. */
  forget(session: CodeSession): void {
    if (this.sessions.get(session.id) === session) this.sessions.delete(session.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    const all = [...this.sessions.values()];
    this.sessions.clear();
    await Promise.allSettled(all.map(({ handle }) => handle.destroy()));
  }

  /** What was added by now: a session made before an addition takes it with install_package. */
  private async installedPackages(): Promise<readonly string[]> {
    const { mountablePackages } = await import("@bursar/sandbox/packages");
    return await mountablePackages(this.packagesFolder);
  }

  private async made(
    wish: SessionWish,
    files: NonNullable<SessionOptions["files"]>,
    old: CodeSession | null,
  ): Promise<CodeSession> {
    const { language, fuel_budget = this.usualFuel, timeout_ms = TIMEOUT_MS, memory_limit_mib = MEMORY_MIB } = wish;
    const { auto_persist_globals = true } = wish;
    const packages = wish.packages ?? (language === "python" ? await this.installedPackages() : []);
    if (fuel_budget > this.mostFuel) {
      throw new ToolError(
        `fuel_budget is ${fuel_budget}; this connection gives at most ${this.mostFuel}.`,
        "ask for less, or ask a person for more fuel with budget_request_extension.",
      );
    }
    const sandbox = await this.sandbox();
    const handle = await sandbox.createSession({
      language,
      files,
      packages,
      autoPath: language === "python",
      autoPersistGlobals: auto_persist_globals,
      fuelBudget: fuel_budget,
      timeout: timeout_ms,
      memoryLimit: memory_limit_mib * MIB,
    });
    await started(handle);
    return {
      id: old?.id ?? handle.id,
      language,
      fuel_budget,
      timeout_ms,
      memory_limit_mib,
      packages,
      auto_persist_globals,
      created: old?.created ?? Date.now(),
      handle,
    };
  }
}

/**
 * Has the interpreter started, which takes seconds where nothing is kept of it yet. Nothing is executed meanwhile, so it must not
 * happen while the clock of a budget runs. Whoever looks at the files of a guest has it made first.
 */
async function started(handle: SandboxSession): Promise<void> {
  try {
    await handle.listFiles();
  } catch (error) {
    await handle.destroy().catch(() => {});
    throw error;
  }
}

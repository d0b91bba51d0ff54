import type { Json, JsonObject } from "../core/chain/canonical.js";
import { canonicalize } from "../core/chain/canonical.js";
import type { Played, Program, Stage } from "../ports/program.js";
import type {
  GuestAnswer,
  GuestOutput,
  GuestPiece,
  GuestResult,
  GuestSession,
  GuestTurn,
  GuestUsage,
  Sandbox,
} from "../ports/sandbox.js";
import { onAbort } from "../runtime/abort-listeners.js";
import { sha256Hex } from "../runtime/crypto.js";
import { GuestUnavailableError, RunError, writeError } from "./error.js";
import { guestExecution } from "./execution.js";
import { toJson } from "./json.js";
import type { ProgramRef } from "./record.js";

/** A program in the sandbox, as a store keeps it. */
export interface GuestSource extends JsonObject {
  readonly language: "python" | "javascript";
  readonly code: string;
  readonly packages: readonly string[];
  readonly memory_bytes: number;
}

/** So many answers, or so much fuel, lie between two snapshots at most: that much is done again after a crash. */
const ANSWERS = 25;
const FUEL = 2_000_000_000;
/** A guest that nobody limits may burn so much in one run. */
const MOST_FUEL = 1_000_000_000_000_000;
/** For a program that does nothing. */
const WARM_UP_FUEL = 1_000_000_000;
const LONGEST_MS = 24 * 60 * 60_000;

/** Where guests run: opened when the first one does. */
export interface OpenSandbox {
  (): Promise<Sandbox>;
  /** Names the key that it signs saved sessions with, without opening it; null when there is none yet. */
  keyFingerprint?(): Promise<string | null>;
}

/** A Python or JavaScript program, which runs in the sandbox and is saved as it stands. */
export function guestProgram(name: string, source: GuestSource, sandbox: OpenSandbox): Program {
  return {
    kind: "guest",
    name,
    digest: sha256Hex(canonicalize(source)),
    source,
    missing: (needs) => missingFor(needs, source, sandbox),
    play: (stage, input) => playGuest(stage, input, source, sandbox),
  };
}

/** The program that a store has kept, if it is one of these. */
export function reviveGuest({ kind, name, source }: ProgramRef, sandbox: OpenSandbox): Program | null {
  return kind === "guest" && source !== null ? guestProgram(name, source as GuestSource, sandbox) : null;
}

/** `translate` turns what the guest asks for into what a run understands. */
export function playGuest(
  stage: Stage,
  input: Json,
  source: GuestSource,
  sandbox: OpenSandbox,
  translate: (name: string, args: Json) => Json = (_, args) => args,
): Played {
  const play = new Play(stage, input, source, sandbox, translate);
  return { result: play.run(), ready: play.restored, snapshot: () => play.snapshot() };
}

/** What a guest needs where it goes on from where it was saved. */
interface GuestNeeds extends JsonObject {
  /** The fingerprint of the key that it was signed with. */
  readonly sandbox_key: string | null;
}

/** What a process lacks to go on with a guest. */
export async function missingFor(
  needs: JsonObject | null,
  { packages }: Pick<GuestSource, "packages">,
  sandbox: OpenSandbox,
): Promise<readonly string[]> {
  const { sandbox_key = null } = (needs ?? {}) as Partial<GuestNeeds>;
  const key = await keyProblem(sandbox_key, sandbox);
  const missing = key === null ? [] : [key];
  if (packages.length === 0) return missing;
  try {
    return [...missing, ...((await (await sandbox()).packageProblems?.(packages)) ?? [])];
  } catch (error) {
    return [...missing, `the sandbox cannot be opened here: ${messageOf(error)}`];
  }
}

/** Why the key that is here does not do; null where it does. One that was not saved yet will be saved with it. */
async function keyProblem(saved: string | null, sandbox: OpenSandbox): Promise<string | null> {
  if (saved === null && sandbox.keyFingerprint === undefined) return null;
  try {
    const own = await fingerprintOf(sandbox);
    return saved === null || own === undefined || own === saved ? null : missingKey(saved, own);
  } catch (error) {
    return `the sandbox key here cannot be used (BURSAR_SANDBOX_KEY, keyFile in openSandbox): ${messageOf(error)}`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function missingKey(key: string, own: string | null): string {
  const here = own === null ? "there is none here" : `the one here is ${own}`;
  return (
    `it was saved with the sandbox key ${key}, and ${here}; copy the key file of the machine that saved it, and name it in ` +
    "BURSAR_SANDBOX_KEY (keyFile in openSandbox)"
  );
}

/** Undefined where the sandbox does not tell. */
async function fingerprintOf(sandbox: OpenSandbox): Promise<string | null | undefined> {
  return sandbox.keyFingerprint === undefined
    ? await (await sandbox()).keyFingerprint?.()
    : await sandbox.keyFingerprint();
}

interface Saved extends JsonObject {
  readonly session: string;
  /** Which effect each question of the guest is. */
  readonly open: readonly (readonly [number, number])[];
  readonly usage: GuestUsage & JsonObject;
  readonly result: Json;
  /** What it has asked and nobody has heard yet. */
  readonly calls?: readonly (JsonObject & Call)[];
  /** What it is to be told next. */
  readonly ready?: readonly Json[];
  /** Absent in what older versions have saved. */
  readonly needs?: GuestNeeds;
}

type Pending = Extract<GuestTurn, { kind: "pending" }>;
type Call = Pending["calls"][number];

/** What the guest may use in its next turn; infinite where nobody has set a limit. */
interface Allowed {
  readonly fuel: number;
  readonly storage: number;
  readonly memory: number;
}

/** The languages whose interpreters are ready, by the sandbox that they are ready in. */
const warmed = new WeakMap<OpenSandbox, ReadonlySet<string>>();

/** One execution of a guest program: its questions are effects of the run. */
class Play {
  private readonly stage: Stage;
  private readonly input: Json;
  private readonly source: GuestSource;
  private readonly sandbox: OpenSandbox;
  private readonly translate: (name: string, args: Json) => Json;
  private readonly open = new Map<number, number>();
  private readonly ready: GuestAnswer[] = [];
  private session: GuestSession | null = null;
  private noticed: () => void = () => {};
  private usage: GuestUsage = { fuel: 0, memory_bytes: 0, bytes_written: 0, bytes_refused: 0, memory_refused: 0 };
  private result: Json = null;
  /** Questions that are not asked before it is known whether the run goes on. */
  private unasked: readonly Call[] = [];
  /** Settled when the guest is as it was saved. */
  readonly restored: Promise<void>;
  private isReady: () => void = () => {};
  private isNot: (error: unknown) => void = () => {};
  private idle = false;
  private computing = false;
  private answers = 0;
  private savedFuel = 0;
  /** Whether somebody has set a limit to what it burns. */
  private limited = false;
  /** The same of what it writes, or has. */
  private bounded = false;
  /** What it has printed so far; null when that is not known, because it was saved elsewhere and has not said anything since. */
  private printed: GuestOutput | null = null;
  /** It is being found out whether the run goes on, and the guest stands still meanwhile. */
  private heeding = false;

  constructor(
    stage: Stage,
    input: Json,
    source: GuestSource,
    sandbox: OpenSandbox,
    translate: (name: string, args: Json) => Json,
  ) {
    this.translate = translate;
    this.restored = new Promise((resolve, reject) => {
      this.isReady = resolve;
      this.isNot = reject;
    });
    this.restored.catch(() => {});
    this.stage = stage;
    this.input = input;
    this.source = source;
    this.sandbox = sandbox;
  }

  async run(): Promise<Json> {
    const { stage } = this;
    try {
      onAbort(stage.signal, () => this.cancel());
      await this.prepare();
      if (stage.saved === null) this.isReady();
      let turn = stage.saved === null ? await this.compute((allowed) => this.begin(allowed)) : await this.restore();
      while (turn === null || turn.kind === "pending") {
        if (turn !== null) await this.heed(turn);
        this.take();
        await this.saveNowAndThen();
        const answer = await this.next();
        turn = await this.compute((allowed) => this.resume(answer, allowed));
      }
      return await this.end(turn);
    } catch (error) {
      this.isNot(error);
      throw error;
    } finally {
      await this.session?.destroy().catch(() => {});
    }
  }

  /** Only while it waits: in the middle of a computation there is nothing to go on from. */
  async snapshot(): Promise<JsonObject | null> {
    const { heeding, idle, ready } = this;
    if (this.session === null || !(heeding || (idle && ready.length === 0))) return null;
    const session = Buffer.from(await this.session.save()).toString("base64");
    const sandbox_key = (await fingerprintOf(this.sandbox)) ?? null;
    const saved: Saved = {
      session,
      open: [...this.open],
      usage: { ...this.usage },
      result: this.result,
      calls: this.unasked.map(({ id, name, args }) => ({ id, name, args: toJson(args) })),
      ready: ready.map((answer) => toJson(answer)),
      needs: { sandbox_key },
    };
    return saved;
  }

  /** Lets the guest go on with as much fuel, memory and room for its files as the run has left, and charges what it takes. */
  private compute(work: (allowed: Allowed) => Promise<GuestTurn>): Promise<GuestTurn> {
    const { fuel, bytes_written } = this.usage;
    const before = { fuel, storage_write_bytes: bytes_written, memory_peak_bytes: 0 };
    return this.stage.compute("fuel", before, async (most) => {
      const { fuel = 0, storage_write_bytes: storage = 0, memory_peak_bytes: memory = 0 } = most;
      this.computing = true;
      this.limited = Number.isFinite(fuel);
      this.bounded = Number.isFinite(storage) || Number.isFinite(memory);
      const turn = await work({ fuel: Math.max(1, Math.min(fuel, MOST_FUEL)), storage, memory }).finally(() => {
        this.computing = false;
      });
      const { usage } = turn;
      const used = {
        fuel: usage.fuel - this.usage.fuel,
        storage_write_bytes: usage.bytes_written - this.usage.bytes_written,
        memory_peak_bytes: usage.memory_bytes,
      };
      this.usage = usage;
      // The fuel that was burnt so far is a name of its own: it only ever grows, and is the same in a replay.
      return { value: turn, name: `guest ${usage.fuel}`, used };
    });
  }

  /** The first guest of a process waits for its interpreter, which is none of its time. */
  private async prepare(): Promise<void> {
    const { language } = this.source;
    if (warmed.get(this.sandbox)?.has(language) === true) return;
    await this.stage.prepare(async () => {
      await this.opened(async (sandbox) => {
        if (sandbox.warm === undefined) return;
        await sandbox.warm(language);
        // The thread that runs it makes the interpreter ready with its first program.
        const session = await sandbox.createSession({ language, fuelBudget: WARM_UP_FUEL });
        await session.begin("").finally(() => session.destroy());
      });
    });
    warmed.set(this.sandbox, new Set([...(warmed.get(this.sandbox) ?? []), language]));
  }

  private async restore(): Promise<null> {
    const saved = this.stage.saved as Saved;
    this.session = await this.opened((sandbox) => sandbox.restoreSession(Buffer.from(saved.session, "base64")));
    this.usage = saved.usage;
    this.result = saved.result;
    this.savedFuel = saved.usage.fuel;
    this.unasked = saved.calls ?? [];
    this.ready.push(...((saved.ready ?? []) as unknown as readonly GuestAnswer[]));
    for (const [id, number] of saved.open) this.await(id, number, this.stage.askedBefore(number));
    this.isReady();
    return null;
  }

  /** What keeps a guest from coming about is this process's doing: another one may have what it takes. */
  private async opened<Value>(open: (sandbox: Sandbox) => Promise<Value>): Promise<Value> {
    try {
      return await open(await this.sandbox());
    } catch (error) {
      throw new GuestUnavailableError(this.stage.run_id, error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async begin({ fuel: fuelBudget, storage, memory }: Allowed): Promise<GuestTurn> {
    const { language, code, packages, memory_bytes } = this.source;
    const options = {
      language,
      packages,
      autoPath: packages.length > 0,
      memoryLimit: memory_bytes,
      ...(Number.isFinite(storage) && { limits: { storage_bytes: storage } }),
      deterministic: { instant: Math.floor(this.stage.began), seed: this.stage.run_id },
    };
    this.session = await this.opened((sandbox) => sandbox.createSession(options));
    this.printed = { stdout: "", stderr: "" };
    const limit = Number.isFinite(memory) && { memoryLimit: memory };
    return this.session.begin(code, { fuelBudget, timeout: LONGEST_MS, ...limit }, this.listener());
  }

  private async resume(answer: GuestAnswer, { fuel, ...most }: Allowed): Promise<GuestTurn> {
    if (this.session === null) throw new Error("the guest is gone");
    this.answers++;
    const [storage, memory] = [most.storage, most.memory].map((each) => (Number.isFinite(each) ? each : undefined));
    await this.session.allow(fuel, storage, memory);
    return this.session.resume(answer, this.listener());
  }

  /** Passes on what it prints while it computes, if somebody looks; whoever does not is told when it stands still. */
  private listener(): ((piece: GuestPiece) => void) | undefined {
    if (!this.stage.watched || this.printed === null) return undefined;
    return ({ stream, text }) => {
      const before = this.printed ?? { stdout: "", stderr: "" };
      this.printed = { ...before, [stream]: before[stream] + text };
      this.stage.output(this.printed);
    };
  }

  /**
   * Looks at a guest that has a question: where it could not write, or have, what it wanted to, the run may end or pause before
   * anything is asked. If it goes on all the same, it does so from here, because with more room it would do something else.
   */
  private async heed({ calls, output, usage }: Pending): Promise<void> {
    this.printed = output;
    this.stage.output(output);
    this.unasked = calls;
    const wanted = refused(usage);
    if (wanted === null) return;
    this.heeding = true;
    if (await this.stage.exhausted(wanted)) await aborted(this.stage.signal);
    this.stage.signal.throwIfAborted();
    if (this.bounded) await this.stage.save(() => this.snapshot());
    this.heeding = false;
  }

  /** Turns the guest's questions into effects. */
  private take(): void {
    const calls = this.unasked;
    this.unasked = [];
    for (const { id, name, args } of calls) {
      if (name === "input") this.answer({ id, value: this.input });
      else if (name === "result") {
        this.result = toJson(args);
        this.answer({ id, value: null });
      } else {
        const { number, answer } = this.stage.ask(name, this.translate(name, toJson(args)));
        this.await(id, number, answer);
      }
    }
  }

  private await(id: number, number: number, answer: Promise<Json>): void {
    this.open.set(id, number);
    answer.then(
      (value) => this.answer({ id, value }),
      (error: unknown) => {
        const { code, message, data } = writeError(error);
        this.answer({ id, error: message, data: { code, ...data } });
      },
    );
  }

  private answer(answer: GuestAnswer): void {
    this.open.delete(answer.id);
    this.ready.push(answer);
    this.noticed();
  }

  private async next(): Promise<GuestAnswer> {
    for (;;) {
      const answer = this.ready.shift();
      if (answer !== undefined) return answer;
      this.idle = true;
      await new Promise<void>((resolve) => {
        this.noticed = resolve;
      });
      this.idle = false;
    }
  }

  private async saveNowAndThen(): Promise<void> {
    if (this.answers < ANSWERS && this.usage.fuel - this.savedFuel < FUEL) return;
    this.answers = 0;
    this.savedFuel = this.usage.fuel;
    await this.stage.save(async () => {
      if (this.ready.length > 0) return null;
      this.idle = true;
      try {
        return await this.snapshot();
      } finally {
        this.idle = false;
      }
    });
  }

  private async end({ result, usage }: Extract<GuestTurn, { kind: "ended" }>): Promise<Json> {
    const { stdout, stderr, success, exit_code, metadata } = result;
    const told = { stdout, stderr: stderr + cutNote(result) };
    this.stage.output(told, guestExecution(metadata, { limited: this.limited }));
    const wanted = refused(usage);
    // It is executed again from where it was saved, if it is given more.
    if (wanted !== null && (await this.stage.exhausted(wanted))) await aborted(this.stage.signal);
    if (success) return this.result;
    const { trap_reason, trap_message } = metadata;
    if (trap_reason === "out_of_fuel" && (await this.stage.exhausted())) await aborted(this.stage.signal);
    const why =
      trap_reason === null ? complaint(stderr) || `it ended with ${exit_code}` : (trap_message ?? trap_reason);
    throw new RunError(trap_reason ?? "program_failed", why, { exit_code });
  }

  /** The run is over, or stands still with its program saved: nobody needs the session any more. */
  private cancel(): void {
    const { session } = this;
    // One that computes comes to its end by itself, which says what it has burnt.
    const end = session?.cancel().catch(() => {});
    if (!this.computing) void end?.then(() => session?.destroy()).catch(() => {});
  }
}

/** What a guest wanted and did not get, by dimension; null when it got all that it wanted. */
function refused({ bytes_refused, memory_refused }: GuestUsage): Readonly<Record<string, number>> | null {
  const wanted = {
    ...(bytes_refused > 0 && { storage_write_bytes: bytes_refused }),
    ...(memory_refused > 0 && { memory_peak_bytes: memory_refused }),
  };
  return Object.keys(wanted).length > 0 ? wanted : null;
}

/** Behind what it printed: where not all of that was kept, the text alone does not show it. */
function cutNote({ stdout, stderr, metadata }: GuestResult): string {
  const texts = [
    ...(metadata.stdout_truncated === true ? [["stdout", stdout] as const] : []),
    ...(metadata.stderr_truncated === true ? [["stderr", stderr] as const] : []),
  ];
  const notes = texts.map(([name, text]) => `${name} was cut after ${Buffer.byteLength(text)} bytes\n`);
  return `${notes.length > 0 && stderr !== "" && !stderr.endsWith("\n") ? "\n" : ""}${notes.join("")}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, () => resolve());
  });
}

/** The line that says what went wrong: Python's last one, the first one of JavaScript's. */
function complaint(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const found = lines.findLast((line) => /^(?:\[|Uncaught )?[\w.]*(?:Error|Exception|Refused|Warning)\b/.test(line));
  return (found ?? lines.at(-1) ?? "").slice(0, 500);
}

import { type ClockOption, HostClock } from "../wasi/host-clock.js";
import { HostRandom, type RandomOption } from "../wasi/host-random.js";
import type { Output } from "../wasi/output.js";
import type { Vfs } from "../wasi/vfs.js";
import { MemoryExhausted } from "../wasm/memory-exhausted.js";
import type { Allotted, Answer, Execution, Outcome } from "../wasm/outcome.js";
import type { Pages } from "../wasm/pages.js";
import { tooLarge } from "../wasm/too-large.js";
import { GuestFiles } from "./guest-files.js";
import { HostSide } from "./host-side.js";
import type { JavaScriptImage } from "./image.js";
import { Machine } from "./machine.js";
import { Modules } from "./modules.js";
import { type AnswerText, Program, type SourceKind } from "./program.js";
import { readSnapshot, type Snapshot, writeSnapshot } from "./snapshot.js";
import { outcomeOf } from "./trap.js";

const MIB = 1024 * 1024;
const DEFAULT_MEMORY = 64 * MIB;
const LEAST_MEMORY = 4 * MIB;
const MOST_MEMORY = 4096 * MIB;
const WASM_PAGE = 65_536;
const LONGEST_ANSWER = 16 * MIB;

/** What a guest lives in. */
export interface GuestOptions {
  readonly files: Vfs;
  /** The real clock when left out; timers and sleeps take no time on a fixed one. */
  readonly clock?: ClockOption;
  /** Where `Math.random` starts; the host's randomness when left out. */
  readonly random?: RandomOption;
  readonly memoryLimitBytes?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether globals and modules live on from one program to the next. On by default; files always do. */
  readonly persist?: boolean;
  /** How the guest waits on the real clock; what it throws stops the guest. In short naps when left out. */
  readonly sleep?: (ms: number) => void;
}

/** What one program gets until it ends or waits. */
export interface ProgramOptions extends Allotted {
  readonly stdout: Output;
  readonly stderr: Output;
}

export interface ExecuteOptions extends ProgramOptions {
  /** What stack traces call the program; a path, if it is a file that others import. */
  readonly name?: string;
  /** A module when its syntax says so, unless it is known. */
  readonly kind?: SourceKind | "auto";
  /** What the program finds as `scriptArgs`. */
  readonly argv?: readonly string[];
  /** What it reads from `std.in`. */
  readonly stdin?: Uint8Array;
  /** A statement of a dialogue: its value is shown, and an unfinished one is no error. */
  readonly interactive?: boolean;
}

/** What a guest tells of a program, and what became of the guest. */
export interface JavaScriptExecution extends Execution {
  /** After a trap the guest is as it was after the last program that ended; what the stopped one did to files stays. */
  readonly state: "kept" | "rolled_back";
}

/** JavaScript in a sandbox: QuickJS, metered, with the session's files and nothing else. */
export class JavaScriptGuest {
  private readonly image: JavaScriptImage;
  private readonly options: GuestOptions;
  private readonly clock: HostClock;
  private readonly random: HostRandom;
  private readonly host: HostSide;
  private readonly memoryLimit: number;
  private machine: Machine | null = null;
  /** The program that waits for answers. */
  private waiting: Program | null = null;
  /** The guest's memory after the last program that has ended; null means as in the image. */
  private settled: Pages | null = null;

  private constructor(image: JavaScriptImage, options: GuestOptions, snapshot: Snapshot | null) {
    this.image = image;
    this.options = options;
    this.memoryLimit = memoryLimitOf(options);
    this.clock = new HostClock(options.clock ?? "real", snapshot?.clock);
    this.random = new HostRandom(options.random ?? "real");
    options.files.storage.now = () => this.clock.stamp();
    const files = new GuestFiles(options.files);
    const { environment = {}, sleep } = options;
    const surroundings = { files, modules: new Modules(files), clock: this.clock, environment };
    this.host = new HostSide(sleep === undefined ? surroundings : { ...surroundings, sleep });
    if (snapshot === null) return;
    this.settled = snapshot.main === null ? snapshot.pages : snapshot.settled;
    if (snapshot.main === null) return;
    this.machine = this.start(snapshot.pages);
    for (const call of snapshot.open) this.host.open.set(call.id, call);
    this.waiting = new Program(this.machine, this.host, snapshot.main);
  }

  /** A new guest, as the image has it. */
  static create(image: JavaScriptImage, options: GuestOptions): JavaScriptGuest {
    return new JavaScriptGuest(image, options, null);
  }

  /** A guest as it was saved, here or in another process; as often as one likes from the same bytes. */
  static restore(image: JavaScriptImage, bytes: Uint8Array, options: GuestOptions): JavaScriptGuest {
    const snapshot = readSnapshot(bytes, image.hash, mostBytes(memoryLimitOf(options)) / WASM_PAGE);
    return new JavaScriptGuest(image, options, snapshot);
  }

  /** Whether a program waits for answers. */
  get pending(): boolean {
    return this.waiting !== null;
  }

  /** Runs a program until it ends, is stopped, or waits for answers. */
  async execute(code: string, options: ExecuteOptions): Promise<JavaScriptExecution> {
    if (this.waiting !== null) throw new Error("a program waits for answers; resume it, or cancel it first");
    this.machine = this.ready();
    this.host.reset();
    const program = new Program(this.machine, this.host, null);
    const prepare = () => program.machine.prepare(options.argv ?? [], options.stdin ?? new Uint8Array());
    return this.carryOut(program, options, prepare, () => program.begin(code, options));
  }

  /** Brings answers to the program that waits, and lets it go on. Those without an answer are still open afterwards. */
  async resume(answers: readonly Answer[], options: ProgramOptions): Promise<JavaScriptExecution> {
    const program = this.waiting;
    if (program === null) throw new Error("no program waits for answers; execute one first");
    const texts = answers.map((answer) => this.written(answer));
    this.waiting = null;
    this.host.imports = [];
    this.host.asked = [];
    const prepare = () => undefined;
    return this.carryOut(program, options, prepare, () => program.settle(texts));
  }

  /** Lets the program that runs burn more. */
  extend(fuel: number): void {
    this.machine?.fuel.extend(fuel);
  }

  /** Gives up the program that waits; the guest is as it was before it. */
  cancel(): void {
    if (this.waiting !== null) this.rollBack();
  }

  /** Makes the guest what it was when it was new; files stay. */
  reset(): void {
    this.rollBack();
    this.settled = null;
  }

  /** Everything that makes this guest, apart from its image and its files. */
  save(): Uint8Array {
    const pages = this.machine?.changes() ??
      this.settled ?? { size: 0, runs: new Uint32Array(), bytes: new Uint8Array() };
    return writeSnapshot({
      image: this.image.hash,
      clock: this.clock.save(),
      main: this.waiting?.main ?? null,
      open: this.waiting === null ? [] : [...this.host.open.values()],
      pages,
      settled: this.waiting === null ? null : this.settled,
    });
  }

  private written(answer: Answer): AnswerText {
    const { id } = answer;
    if (!this.host.open.has(id)) throw new RangeError(`no call with the id ${id} waits for an answer`);
    const written = textOf(answer);
    if (written.text.length <= LONGEST_ANSWER) return { id, ...written };
    throw new RangeError(`the answer has ${written.text.length} characters; ${LONGEST_ANSWER} are allowed`);
  }

  private async carryOut(
    program: Program,
    options: ProgramOptions,
    prepare: () => void,
    start: () => void,
  ): Promise<JavaScriptExecution> {
    const { machine } = program;
    const { fuel, stdout, stderr } = options;
    const onSlice = (consumed: number) => {
      options.onSlice(consumed);
      // The engine keeps the limit on what it has in use; this is for what lies unused in between.
      if (machine.quickjs.memory.length > mostBytes(this.memoryLimit)) throw new MemoryExhausted();
    };
    const onNap = () => onSlice(machine.fuel.consumed);
    this.host.stage = { stdout, stderr, onNap };
    machine.ceiling.set(options.memory ?? null);
    const { length } = machine.quickjs.memory;
    if (length > (options.memory ?? length)) {
      this.rollBack();
      return { ...tooLarge(length), state: "rolled_back" };
    }
    try {
      prepare();
      machine.fuel.begin({ budget: fuel, onSlice, ...(options.slice !== undefined && { slice: options.slice }) });
      start();
      const outcome = this.drive(program);
      const execution = this.describe(machine, outcome, machine.fuel.end());
      if (outcome.kind === "pending") this.waiting = program;
      else this.settle(program);
      return execution;
    } catch (error) {
      const { imports } = this.host;
      this.rollBack();
      const outcome = outcomeOf(error);
      return { ...this.describe(machine, outcome, machine.fuel.consumed), imports, state: "rolled_back" };
    } finally {
      this.host.stage = null;
    }
  }

  /** Goes on with promises and timers until there is nothing left to do here. */
  private drive(program: Program): Outcome {
    for (;;) {
      const outcome = program.runReactions();
      if (outcome !== null) return outcome;
      const due = program.nextTimer();
      const isOpen = this.host.open.size > 0;
      if (due < 0 || (isOpen && due > this.host.milliseconds)) return program.stand();
      this.waitUntil(due);
      program.fireTimer(Math.max(due, this.host.milliseconds));
    }
  }

  private waitUntil(due: number): void {
    for (let now = this.host.milliseconds; now < due; now = this.host.milliseconds) this.host.sleep(due - now);
  }

  private describe(machine: Machine, outcome: Outcome, fuel_consumed: number): JavaScriptExecution {
    const memory_bytes = machine.quickjs.memory.length;
    const memory_refused = machine.ceiling.refused;
    return { outcome, imports: this.host.imports, fuel_consumed, memory_bytes, memory_refused, state: "kept" };
  }

  /** Makes what the program has left behind the state to go back to. */
  private settle(program: Program): void {
    program.finish();
    this.host.reset();
    if (this.options.persist ?? true) this.settled = program.machine.changes();
    else this.machine = null;
  }

  private rollBack(): void {
    this.machine = null;
    this.waiting = null;
    this.host.reset();
  }

  private ready(): Machine {
    if (this.machine !== null) return this.machine;
    const machine = this.start(this.settled);
    if (this.settled === null) machine.reseed(this.seed());
    return machine;
  }

  private start(changed: Pages | null): Machine {
    return new Machine(this.image, this.host, changed, this.memoryLimit);
  }

  private seed(): bigint {
    const bytes = new Uint8Array(8);
    this.random.fill(bytes, 0, 8);
    return new DataView(bytes.buffer).getBigUint64(0, true);
  }
}

function textOf(answer: Answer): Omit<AnswerText, "id"> {
  if (!("error" in answer)) return { kind: "value", text: JSON.stringify(answer.value) ?? "null" };
  const { error: message, data } = answer;
  if (data === undefined) return { kind: "failure", text: message };
  return { kind: "refusal", text: JSON.stringify({ message, data }) };
}

function memoryLimitOf({ memoryLimitBytes = DEFAULT_MEMORY }: GuestOptions): number {
  const fits = Number.isSafeInteger(memoryLimitBytes) && memoryLimitBytes >= LEAST_MEMORY;
  // The engine counts with 32 bits, so the largest limit is a page less.
  if (fits && memoryLimitBytes <= MOST_MEMORY) return Math.min(memoryLimitBytes, MOST_MEMORY - WASM_PAGE);
  throw new RangeError(`memoryLimitBytes is ${memoryLimitBytes}; give ${LEAST_MEMORY} to ${MOST_MEMORY}`);
}

/** How large the whole memory may become for a limit on what is in use: holes in between take room, too. */
function mostBytes(memoryLimit: number): number {
  return Math.min(MOST_MEMORY, WASM_PAGE * Math.ceil((2 * memoryLimit) / WASM_PAGE) + 16 * MIB);
}

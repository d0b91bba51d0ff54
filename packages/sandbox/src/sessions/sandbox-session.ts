import type { SandboxResult } from "../analysis/result.js";
import type { Answer, HostCall } from "../wasm/outcome.js";
import { messageOf, writtenAnswer } from "./answer.js";
import type { FileEntry } from "./errand.js";
import { SandboxInputError } from "./input-error.js";
import type { Keeping } from "./keeper.js";
import { Listening } from "./listening.js";
import { checkExecution, type ExecuteOptions, type OutputPiece, thresholdsOf } from "./options.js";
import { OutputText } from "./output-text.js";
import type { Listener, Settings, Terms, Turn } from "./session.js";
import { sign } from "./signed.js";

/** Answers a guest's questions, by their names. What it throws, the guest sees as an error; as a refusal, if it is one. */
export type Handlers = Readonly<Record<string, (args: unknown) => unknown>>;

/** Thrown by a handler that refuses a call. The guest gets `data` with it, and can tell it from a failure. */
export class HostRefusal extends Error {
  override readonly name = "HostRefusal";
  readonly data: Readonly<Record<string, unknown>>;

  constructor(message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.data = data;
  }
}

export interface RunOptions extends ExecuteOptions {
  readonly handlers?: Handlers;
  /**
   * What a program is told of an error that a handler has thrown: its message, word for word, unless this says otherwise. Messages may name
   * paths and addresses of the host; `(_, name) => \`${name} failed\`` tells nothing of them. Refusals (`HostRefusal`) are told as they are.
   */
  readonly describeError?: (error: unknown, name: string) => string;
}

/** Who is told what happens, as it comes. */
interface Listeners {
  readonly onOutput: ExecuteOptions["onOutput"];
  readonly onWarning?: ExecuteOptions["onWarning"] | undefined;
}

const PROGRESS_MS = 100;
const CANCEL_MS = 50;

/** One guest with its files, and with its globals if they are to live on. */
export class SandboxSession {
  readonly id: string;
  private readonly keeping: Keeping;
  private readonly key: () => Promise<Uint8Array>;
  /** Half a character may be left from before the last question. */
  private text: OutputText | null = null;

  constructor(id: string, keeping: Keeping, key: () => Promise<Uint8Array>) {
    this.id = id;
    this.keeping = keeping;
    this.key = key;
  }

  /** Runs a program to its end. Questions it asks are answered by `handlers`; one without a handler is refused. */
  async execute(code: string, options: RunOptions = {}): Promise<SandboxResult> {
    checkExecution(options, "execute");
    const { handlers = {}, describeError = messageOf, signal, onProgress, onWarning, onOutput, ...settings } = options;
    const thresholds = thresholdsOf(options.thresholds);
    signal?.throwIfAborted();
    const listening = this.listening();
    using watched = this.watch(signal, onProgress, listening);
    const terms = { ...settings, thresholds: onWarning === undefined ? [] : thresholds };
    let turn = await this.beginWith(code, terms, { onWarning, onOutput }, listening);
    let answers = new Map<number, Promise<Answer>>();
    while (turn.kind === "pending" && !listening.failed) {
      for (const call of turn.calls) answers.set(call.id, answerTo(call, handlers, describeError));
      const { open } = turn;
      // Only what the guest still waits for; a guest may say anything, also that it waits for what it never asked.
      answers = new Map([...answers].filter(([id]) => open.includes(id)));
      const unasked: Answer = {
        id: open[0] ?? 0,
        error: "this was never asked: its arguments are too deep or too many",
      };
      const given = answers.size === 0 ? unasked : await Promise.race([...answers.values(), watched.cancelled]);
      // The program ends instead of whatever it waited for.
      const answer = given ?? { id: open[0] ?? 0, error: "the execution was cancelled" };
      answers.delete(answer.id);
      if (!listening.failed) turn = await this.resumeWith(answer, { onWarning, onOutput }, listening);
    }
    if (turn.kind === "ended" && !listening.failed) return turn.result;
    // Nobody will answer a program that still waits.
    if (turn.kind === "pending") await this.drop().catch(() => {});
    return listening.fail();
  }

  /** Runs a program to its end or to its first question, at which it can be saved, and resumed elsewhere. */
  async begin(code: string, settings: Settings = {}, onOutput?: ExecuteOptions["onOutput"]): Promise<Turn> {
    checkExecution(settings, "begin");
    const listening = this.listening();
    const turn = await this.beginWith(code, settings, { onOutput }, listening);
    return listening.failed ? listening.fail() : turn;
  }

  /** Answers one question. Of several that are open each can be answered by itself, in any order. */
  async resume(answer: Answer, onOutput?: ExecuteOptions["onOutput"]): Promise<Turn> {
    const listening = this.listening();
    const turn = await this.resumeWith(writtenAnswer(answer), { onOutput }, listening);
    return listening.failed ? listening.fail() : turn;
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

  /** Says how much a program that waits for an answer may burn, write and have from now on, whatever it was allowed before. */
  async allow(fuel: number, storage_bytes?: number, memory_bytes?: number): Promise<void> {
    await this.keeping.allow(this.id, fuel, storage_bytes, memory_bytes);
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
    return await sign(await this.keeping.keep(this.id), await this.key());
  }

  async destroy(): Promise<void> {
    await this.keeping.destroy(this.id);
  }

  private listening(): Listening {
    return new Listening(() => void this.cancel().catch(() => {}));
  }

  private beginWith(code: string, terms: Terms, listeners: Listeners, listening: Listening): Promise<Turn> {
    this.text = null;
    return this.telling(listeners, listening, (listener) => this.keeping.begin(this.id, code, terms, listener));
  }

  private resumeWith(answer: Answer, listeners: Listeners, listening: Listening): Promise<Turn> {
    return this.telling(listeners, listening, (listener) => this.keeping.resume(this.id, answer, listener));
  }

  private async telling(
    { onOutput, onWarning }: Listeners,
    listening: Listening,
    work: (listener: Listener | null) => Promise<Turn>,
  ): Promise<Turn> {
    if (onOutput === undefined && onWarning === undefined) return work(null);
    this.text ??= new OutputText();
    const text = this.text;
    const show = (pieces: readonly OutputPiece[]) => {
      for (const piece of pieces) listening.tell(() => onOutput?.(piece));
    };
    const turn = await work((news) => {
      if (news.kind === "output") show(text.take(news.pieces));
      else listening.tell(() => onWarning?.(news.warning));
    });
    if (turn.kind === "ended") show(text.end());
    return turn;
  }

  private watch(
    signal: AbortSignal | undefined,
    onProgress: ExecuteOptions["onProgress"],
    listening: Listening,
  ): Watched {
    let again: NodeJS.Timeout | null = null;
    let told: (nothing: null) => void = () => {};
    const cancelled = new Promise<null>((resolve) => {
      told = resolve;
    });
    const cancel = () => {
      const say = () => void this.keeping.cancel(this.id).catch(() => {});
      say();
      // Between two turns nobody hears it, so it is said again.
      again ??= setInterval(say, CANCEL_MS).unref();
      told(null);
    };
    // A signal of its own: one that many executions share would get a listener from each, which Node takes for a leak.
    const own = signal === undefined ? undefined : AbortSignal.any([signal]);
    own?.addEventListener("abort", cancel, { once: true });
    let over = false;
    const look = async () => {
      // A session that is gone is the execution's own trouble, which says so itself.
      const progress = await this.keeping.progress(this.id).catch(() => null);
      if (progress !== null && !over) listening.tell(() => onProgress?.(progress.consumed, progress.budget));
    };
    const timer = onProgress === undefined ? null : setInterval(() => void look(), PROGRESS_MS).unref();
    return {
      cancelled,
      [Symbol.dispose]() {
        over = true;
        own?.removeEventListener("abort", cancel);
        if (again !== null) clearInterval(again);
        if (timer !== null) clearInterval(timer);
      },
    };
  }
}

/** What goes on around an execution. */
interface Watched extends Disposable {
  /** Resolved when somebody wants it to end. */
  readonly cancelled: Promise<null>;
}

/** What the guest is told: what the handler gave back, or that it failed. Nothing that a handler does ends the execution. */
async function answerTo(
  { id, name, args }: HostCall,
  handlers: Handlers,
  describeError: NonNullable<RunOptions["describeError"]>,
): Promise<Answer> {
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (handler === undefined) return { id, error: `the host offers nothing called ${name}` };
  try {
    const value = (await handler(args)) ?? null;
    return writtenAnswer({ id, value });
  } catch (error) {
    return { id, ...failureOf(error, name, describeError) };
  }
}

function failureOf(error: unknown, name: string, describeError: NonNullable<RunOptions["describeError"]>) {
  if (error instanceof SandboxInputError && error.field.startsWith("answer.")) {
    return { error: `${name} gave back what cannot be told to a program: ${error.message.slice("answer.".length)}` };
  }
  const refusal = refusalOf(error);
  if (refusal !== null) return refusal;
  try {
    return { error: messageOf(describeError(error, name)) };
  } catch {
    return { error: `${name} failed` };
  }
}

function refusalOf(error: unknown): { readonly error: string; readonly data: HostRefusal["data"] } | null {
  if (!(error instanceof HostRefusal)) return null;
  try {
    const written = writtenAnswer({ id: 0, error: messageOf(error), data: error.data });
    return "error" in written ? { error: written.error, data: written.data ?? {} } : null;
  } catch {
    return { error: messageOf(error), data: {} };
  }
}

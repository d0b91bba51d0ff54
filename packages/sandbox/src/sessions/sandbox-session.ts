import type { SandboxResult } from "../analysis/result.js";
import type { Answer, HostCall } from "../wasm/outcome.js";
import type { FileEntry } from "./errand.js";
import type { Keeping } from "./keeper.js";
import type { ExecuteOptions, OutputPiece } from "./options.js";
import { OutputText } from "./output-text.js";
import type { Listener, Settings, Turn } from "./session.js";
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
}

const PROGRESS_MS = 100;

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
    const { handlers = {}, signal, onProgress, onOutput, ...settings } = options;
    signal?.throwIfAborted();
    using _ = this.watch(signal, onProgress, settings);
    let turn = await this.begin(code, settings, onOutput);
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
      turn = await this.resume(answer, onOutput);
    }
    return turn.result;
  }

  /** Runs a program to its end or to its first question, at which it can be saved, and resumed elsewhere. */
  async begin(code: string, settings: Settings = {}, onOutput?: ExecuteOptions["onOutput"]): Promise<Turn> {
    this.text = null;
    return this.showing(onOutput, (listener) => this.keeping.begin(this.id, code, settings, listener));
  }

  /** Answers one question. Of several that are open each can be answered by itself, in any order. */
  async resume(answer: Answer, onOutput?: ExecuteOptions["onOutput"]): Promise<Turn> {
    return this.showing(onOutput, (listener) => this.keeping.resume(this.id, answer, listener));
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

  /** Says how much a program that waits for an answer may burn from now on, whatever it was allowed before. */
  async allow(fuel: number): Promise<void> {
    await this.keeping.allow(this.id, fuel);
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

  private async showing(
    onOutput: ExecuteOptions["onOutput"],
    work: (listener: Listener | null) => Promise<Turn>,
  ): Promise<Turn> {
    if (onOutput === undefined) return work(null);
    this.text ??= new OutputText();
    const text = this.text;
    let failure: { readonly error: unknown } | null = null;
    const show = (pieces: readonly OutputPiece[]) => {
      try {
        if (failure === null) for (const piece of pieces) onOutput(piece);
      } catch (error) {
        // It must not be thrown where output arrives. Whoever cannot listen has no use for the rest.
        failure = { error };
        void this.cancel().catch(() => {});
      }
    };
    const turn = await work((pieces) => show(text.take(pieces)));
    if (turn.kind === "ended") show(text.end());
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
    return turn;
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
    if (error instanceof HostRefusal) return { id, error: error.message, data: error.data };
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

import type { ExecuteOptions, SandboxResult, SandboxSession, Turn } from "@bursar/sandbox";
import type { BudgetState, Decision, Notice } from "bursar";
import { type CodeSession, SessionGone } from "./code-sessions.js";
import { ToolError } from "./said.js";
import type { Workplace } from "./workplace.js";

/** Code to be executed once. */
export interface CodeWish {
  readonly code: string;
  readonly fuel: number;
  readonly timeout_ms: number;
  readonly stdin?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly signal: AbortSignal;
  readonly onOutput: NonNullable<ExecuteOptions["onOutput"]>;
}

export interface Executed {
  readonly result: SandboxResult;
  readonly state: BudgetState;
  readonly notices: readonly Notice[];
}

/** With less than this an interpreter comes to nothing. */
const LEAST_FUEL = 1_000_000;
/** The most that one execution may write. */
const STORAGE_BYTES = 50 * 1024 * 1024;
/** How much later than its timeout an execution may be settled. */
const GRACE_MS = 60_000;
/** A word that comes before the guest has begun is not heard, so it is said again. */
const CANCEL_MS = 200;

/**
 * Executes code in a session, paid for by the budget: fuel, and what it may write, are reserved first, and what was not used is given back. Whoever waits
 * for others in that session reserves nothing yet, and is not charged when he gives up.
 */
export function execute(workplace: Workplace, { id }: CodeSession, wish: CodeWish): Promise<Executed> {
  return workplace.sessions.inTurn(id, wish.signal, (session) => executeNow(workplace, session, wish));
}

async function executeNow(workplace: Workplace, session: CodeSession, wish: CodeWish): Promise<Executed> {
  const { remaining, held } = await workplace.state();
  const left = (remaining.wall_clock_ms ?? wish.timeout_ms) - (held.wall_clock_ms ?? 0);
  const timeout = Math.max(1, Math.min(wish.timeout_ms, left));
  wish.signal.throwIfAborted();
  const gated = await workplace.pay<SandboxResult | NotBegun>(
    {
      capability_id: `sandbox:${session.language}`,
      kind: "code",
      expires_ms: timeout + GRACE_MS,
      asked: { fuel: wish.fuel, storage_write_bytes: STORAGE_BYTES },
      least: { fuel: Math.min(wish.fuel, LEAST_FUEL), storage_write_bytes: 0 },
    },
    async (signal, granted) => {
      const fuelBudget = granted.fuel ?? wish.fuel;
      const storageLimit = granted.storage_write_bytes ?? STORAGE_BYTES;
      const ended = await runToEnd(session.handle, { ...wish, timeout, fuelBudget, storageLimit }, signal);
      if (ended.kind === "not_begun") return { value: ended, usage: { fuel: 0, storage_write_bytes: 0 } };
      const { result, usage } = ended;
      const { fuel, memory_bytes: memory_peak_bytes, bytes_written: storage_write_bytes } = usage;
      return { value: result, usage: { fuel, memory_peak_bytes, storage_write_bytes } };
    },
  );
  if (gated.kind === "refused") throw refused(gated.message, gated.decision);
  if (gated.kind === "failed") throw gated.error;
  const { value, settled } = gated;
  if ("kind" in value) throw whyNotBegun(value, workplace, session);
  const { notices } = settled;
  return { result: { ...value, session_id: session.id }, state: await workplace.state(), notices };
}

/** The sandbox ends sessions by itself that nobody has used for half an hour. */
function whyNotBegun({ error }: NotBegun, { sessions }: Workplace, session: CodeSession): unknown {
  if (!isRefusal(error) || !("field" in error) || error.field !== "session") return error;
  sessions.forget(session);
  return new SessionGone(session.id);
}

/** Why code was not executed, and what can be done about it. */
export function refused(message: string, { kind, findings }: Decision): ToolError {
  if (kind === "busy") {
    return new ToolError(`Nothing was done: ${message}`, "wait until your other calls have ended.");
  }
  const [dimension = "fuel"] = findings.map((finding) => finding.dimension);
  return new ToolError(
    `Nothing was done: ${message}`,
    `ask a person for more with budget_request_extension(dimension="${dimension}"), or tell the user what you could not do.`,
  );
}

type Ended = Extract<Turn, { kind: "ended" }>;

/** Nothing was executed, so there is nothing to pay for. */
interface NotBegun {
  readonly kind: "not_begun";
  readonly error: unknown;
}

/** What the sandbox does not even begin with; it is a package of its own, with errors of its own. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === "SandboxInputError";
}

async function runToEnd(
  handle: SandboxSession,
  wish: CodeWish & Required<Pick<ExecuteOptions, "timeout" | "fuelBudget" | "storageLimit">>,
  limit: AbortSignal,
): Promise<Ended | NotBegun> {
  const { code, stdin, args = [], timeout, fuelBudget, storageLimit, onOutput } = wish;
  if (wish.signal.aborted) return { kind: "not_begun", error: wish.signal.reason };
  using _ = cancelling(handle, [wish.signal, limit]);
  const argv = ["program", ...args];
  const settings = { fuelBudget, timeout, storageLimit, argv, ...(stdin !== undefined && { stdin }) };
  const first = await handle.begin(code, settings, onOutput).catch((error: unknown): NotBegun => {
    if (isRefusal(error)) return { kind: "not_begun", error };
    throw error;
  });
  if (first.kind === "not_begun") return first;
  let turn: Turn = first;
  while (turn.kind === "pending") {
    const [id] = turn.open;
    // Code that a client sends has nobody to ask. Each answer costs it fuel, so this comes to an end.
    const error = "code that is executed here has no host to call; start it with run_start for that";
    turn = await handle.resume({ id: id ?? 0, error }, onOutput);
  }
  return turn;
}

/** Stops the guest when one of these fires. */
function cancelling(handle: SandboxSession, signals: readonly AbortSignal[]): Disposable {
  let timer: NodeJS.Timeout | null = null;
  const cancel = () => void handle.cancel().catch(() => {});
  const stop = () => {
    cancel();
    timer ??= setInterval(cancel, CANCEL_MS).unref();
  };
  for (const signal of signals) {
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  }
  return {
    [Symbol.dispose]() {
      if (timer !== null) clearInterval(timer);
      for (const signal of signals) signal.removeEventListener("abort", stop);
    },
  };
}

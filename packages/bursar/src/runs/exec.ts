import type { Json, JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import type { BudgetAmounts } from "../core/input.js";
import type { GuestTurn } from "../ports/sandbox.js";
import { offAbort, onAbort } from "../runtime/abort-listeners.js";
import type { Deed, Doing, Handler, Made } from "./deed.js";
import { RefusedInside } from "./error.js";
import type { OpenSandbox } from "./guest.js";

/** What one execution may burn, and write, unless it says otherwise. */
const FUEL = 10_000_000_000;
const MIB = 1024 * 1024;
/** A fifth of what a run may write by default: what is held for one execution is missing to those beside it, which would wait. */
const STORAGE = 10 * MIB;
const MEMORY = 256 * MIB;
/** No sandbox takes less. */
const LEAST_MEMORY = 32 * MIB;
const TIMEOUT_MS = 60_000;

type Wanted = ReturnType<typeof read>;

/**
 * Lets agents run untrusted code, inside the budget: its fuel and what it may write are reserved first, no more than is left, and
 * what it did not use is given back.
 */
export function execHandler(sandbox: OpenSandbox): Handler {
  return (args) => {
    const wanted = read(args);
    return {
      kind: "call",
      capability_id: `sandbox:${wanted.language}`,
      call: "code",
      asked: { fuel: wanted.fuel, storage_write_bytes: wanted.storage_bytes, memory_peak_bytes: MEMORY },
      least: { fuel: 1, storage_write_bytes: 0, memory_peak_bytes: LEAST_MEMORY },
      // The files of an execution that was given up are gone with it.
      seen: () => ({ storage_write_bytes: 0, memory_peak_bytes: 0 }),
      make: (doing) => execute(sandbox, wanted, doing),
    } satisfies Deed;
  };
}

async function execute(sandbox: OpenSandbox, wanted: Wanted, doing: Doing): Promise<Made> {
  const { granted, signal } = doing;
  const { language, code, packages, timeout } = wanted;
  const { fuel: fuelBudget = 1, storage_write_bytes: storage_bytes = 0, memory_peak_bytes = LEAST_MEMORY } = granted;
  const options = {
    language,
    packages,
    autoPath: packages.length > 0,
    fuelBudget,
    timeout,
    // For every limit of a session an interpreter is compiled anew, so that all have one; what the budget leaves is said below.
    memoryLimit: MEMORY,
    limits: { storage_bytes },
  };
  const session = await sandbox()
    .then((place) => place.createSession(options))
    .catch(unused);
  const cancel = () => void session.cancel().catch(() => {});
  onAbort(signal, cancel);
  try {
    // It takes a while until there is a sandbox, and nobody may wait for the code any more.
    signal.throwIfAborted();
    const turn = await session.begin(code, { fuelBudget, timeout, memoryLimit: memory_peak_bytes });
    const made = ended(turn);
    const had = { fuel: fuelBudget, storage_write_bytes: storage_bytes, memory_peak_bytes };
    for (const more of missing(turn, wanted, had)) await expectMore(doing, more, made);
    return made;
  } finally {
    offAbort(signal, cancel);
    await session.destroy().catch(() => {});
  }
}

/** What the code needed and did not have, where its budget and not its own wish kept that small: each by itself. */
function missing(turn: GuestTurn, wanted: Wanted, had: BudgetAmounts): readonly BudgetAmounts[] {
  const { bytes_written, bytes_refused, memory_refused } = turn.usage;
  const needed = {
    // How much it would have burnt nobody knows, but that it is more than it had.
    fuel: isOutOfFuel(turn) ? (had.fuel ?? 0) + 1 : 0,
    storage_write_bytes: bytes_refused > 0 ? bytes_written + bytes_refused : 0,
    memory_peak_bytes: memory_refused,
  };
  const most = { fuel: wanted.fuel, storage_write_bytes: wanted.storage_bytes, memory_peak_bytes: MEMORY };
  return (["fuel", "storage_write_bytes", "memory_peak_bytes"] as const)
    .filter((id) => needed[id] > 0 && (had[id] ?? 0) < most[id])
    .map((id) => ({ [id]: Math.min(needed[id], most[id]) }));
}

function isOutOfFuel(turn: GuestTurn): boolean {
  return turn.kind === "ended" && turn.result.metadata.trap_reason === "out_of_fuel";
}

/**
 * What was left did not suffice. What the code needed is asked for now, as far as it is known, so that the policy of what has run out
 * answers: the run ends, or pauses and has the code executed again. Where it is nobody's policy to do so, the agent is told how far the
 * code came.
 */
async function expectMore(doing: Doing, wanted: BudgetAmounts, { usage }: Made): Promise<void> {
  const { gate, run, key, signal, inner } = doing;
  const nothing = Object.fromEntries(Object.keys(wanted).map((id) => [id, 0]));
  const gated = await gate.call(
    {
      budget: run.budget,
      capability_id: "sandbox",
      kind: "code",
      step_id: key,
      signal,
      call_id: inner(),
      asked: { steps: 0, ...wanted },
      wait_ms: 0,
    },
    async () => ({ value: null, usage: nothing }),
  );
  if (gated.kind !== "refused" || !["stopped", "paused"].includes(gated.decision.kind)) return;
  throw new RefusedInside(gated.decision, gated.message, usage);
}

/** Where nothing was executed, nothing is charged. */
function unused(error: Error): never {
  throw Object.assign(error, { usage: { fuel: 0, memory_peak_bytes: 0, storage_write_bytes: 0 } });
}

/** Code that is run for an agent has nobody to ask: it has no effects of its own. */
function ended(turn: GuestTurn): Made {
  const { fuel, memory_bytes, bytes_written } = turn.usage;
  const usage = { fuel, memory_peak_bytes: memory_bytes, storage_write_bytes: bytes_written };
  if (turn.kind === "ended") return { value: turn.result, usage };
  const { stdout } = turn.output;
  const stderr = "code that is executed for an agent has no host to call; use a program of its own for that";
  return { value: { success: false, exit_code: 1, stdout, stderr }, usage };
}

function read(args: Json) {
  const given = (args ?? {}) as JsonObject;
  const { language, code, packages = [], fuel = FUEL, timeout = TIMEOUT_MS, storage_bytes = STORAGE } = given;
  if (language !== "python" && language !== "javascript") {
    throw new InputError("language", `is ${show(language)}; allowed: python, javascript`);
  }
  if (typeof code !== "string") throw new InputError("code", `is ${show(code)}; allowed: a text`);
  if (!Array.isArray(packages) || packages.some((name) => typeof name !== "string")) {
    throw new InputError("packages", "must be a list of names");
  }
  for (const [field, value] of Object.entries({ fuel, timeout })) {
    if (typeof value !== "number" || !(value > 0)) throw new InputError(field, `is ${show(value)}; allowed: above 0`);
  }
  if (typeof storage_bytes !== "number" || !(storage_bytes >= 0)) {
    throw new InputError("storage_bytes", `is ${show(storage_bytes)}; allowed: 0 or more`);
  }
  const most = { fuel: fuel as number, timeout: timeout as number, storage_bytes };
  return { language, code, packages: packages as string[], ...most } as const;
}

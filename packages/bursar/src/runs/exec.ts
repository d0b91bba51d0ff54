import type { Json, JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import type { GuestTurn } from "../ports/sandbox.js";
import type { Deed, Handler } from "./deed.js";
import type { OpenSandbox } from "./guest.js";

/** What one execution may burn unless it says otherwise. */
const FUEL = 10_000_000_000;
const MEMORY = 256 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/** Lets agents run untrusted code, inside the budget: its fuel is reserved first, and what it did not burn is given back. */
export function execHandler(sandbox: OpenSandbox): Handler {
  return (args) => {
    const wanted = read(args);
    return {
      kind: "call",
      capability_id: `sandbox:${wanted.language}`,
      call: "code",
      asked: { fuel: wanted.fuel },
      make: async ({ signal }) => {
        const { language, code, packages, fuel: fuelBudget, timeout } = wanted;
        const place = await sandbox();
        const session = await place.createSession({
          ...{ language, packages, autoPath: packages.length > 0, memoryLimit: MEMORY },
          ...{ fuelBudget, timeout },
        });
        const cancel = () => void session.cancel().catch(() => {});
        signal.addEventListener("abort", cancel, { once: true });
        try {
          return ended(await session.begin(code, { fuelBudget, timeout }));
        } finally {
          signal.removeEventListener("abort", cancel);
          await session.destroy().catch(() => {});
        }
      },
    } satisfies Deed;
  };
}

/** Code that is run for an agent has nobody to ask: it has no effects of its own. */
function ended(turn: GuestTurn) {
  const { fuel, memory_bytes, bytes_written } = turn.usage;
  const usage = { fuel, memory_peak_bytes: memory_bytes, storage_write_bytes: bytes_written };
  if (turn.kind === "ended") return { value: turn.result, usage };
  const { stdout } = turn.output;
  const stderr = "code that is executed for an agent has no host to call; use a program of its own for that";
  return { value: { success: false, exit_code: 1, stdout, stderr }, usage };
}

function read(args: Json) {
  const { language, code, packages = [], fuel = FUEL, timeout = TIMEOUT_MS } = (args ?? {}) as JsonObject;
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
  return { language, code, packages: packages as string[], fuel: fuel as number, timeout: timeout as number } as const;
}

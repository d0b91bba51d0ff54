import { InputError } from "bursar";
import { UsageError } from "./errors.js";

/** Awaits work whose input came from a command line: what the library refuses is then a usage error. */
export async function asUsage<Value>(label: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new UsageError(label === "" ? error.message : `${label}: ${error.message}`);
  }
}

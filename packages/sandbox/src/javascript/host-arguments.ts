import { wildness } from "../wasm/wildness.js";

/** What the guest passed to `host.call`, or why it cannot be taken. */
export type HostArguments =
  | { readonly kind: "taken"; readonly value: unknown }
  | { readonly kind: "refused"; readonly message: string };

/** Reads arguments that a guest has written: untrusted text, of bounded length. */
export function readArguments(text: string): HostArguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused("are not valid JSON");
  }
  const problem = wildness(value);
  return problem === null ? { kind: "taken", value } : refused(problem);
}

function refused(problem: string): HostArguments {
  return { kind: "refused", message: `the arguments of host.call ${problem}` };
}

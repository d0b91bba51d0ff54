// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import { TypeErrorOf } from "./primordials.js";

/** Stands where QuickJS has a function that the sandbox has not, and says so. */
export function unavailable(name, why) {
  return () => {
    throw new TypeErrorOf(name + " does not exist in the sandbox: " + why);
  };
}

export const NO_PROCESSES = "there are no other processes";
export const NO_NETWORK = "there is no network; use await host.call(name, args)";
export const NO_THREADS = "there are no threads";
export const NO_TERMINAL = "there is no terminal";
export const NO_SIGNALS = "there are no signals";

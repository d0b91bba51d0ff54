import type { Sandbox } from "@bursar/sandbox";
import type { LazySandbox } from "./lazy-sandbox.js";

/** The sandbox that runs use, as what it is: code of clients needs more of it than runs do. */
export function sandboxOf(lazy: LazySandbox): () => Promise<Sandbox> {
  return async () => {
    const { Sandbox } = await import("@bursar/sandbox");
    const place = await lazy.open();
    if (place instanceof Sandbox) return place;
    throw new TypeError("the sandbox of this process is none that clients can use");
  };
}

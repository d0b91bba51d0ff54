import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import type { Fault, Line } from "./child.js";

/** Only root may mount, but everybody may have a namespace in which he is allowed to. */
const ALONE = process.getuid?.() === 0 ? ["unshare", "-m"] : ["unshare", "-c", "--keep-caps", "-m"];

/** What a child is run under to have a small disk at a place, that ends with it; null where nothing can be mounted. */
export function onSmallDisk(place: string): readonly string[] | null {
  const under = [...ALONE, "bash", "-c", `mount -t tmpfs -o size=4m tmpfs '${place}' && exec "$@"`, "small"];
  try {
    execFileSync(under[0] as string, [...under.slice(1), "true"], { stdio: "ignore" });
    return under;
  } catch {
    return null;
  }
}

/** So much of a small disk is taken, until it is removed. */
export const BALLAST_BYTES = 2_500_000;

/** Checks what `children/full.mjs` has seen: refusals that say what to do, and everything else there and counted. */
export function checkFull(lines: readonly Line[], code: string): void {
  const told = Object.assign({}, ...lines) as {
    readonly faults: readonly Fault[];
    readonly before: { readonly charged: number };
    readonly after: { readonly charged: number };
  };
  for (const fault of told.faults) {
    expect(fault).toMatchObject({ name: "StoreError", code, message: expect.stringContaining("try again") });
  }
  for (const figures of [told.before, told.after]) {
    const { charged } = figures;
    expect(figures).toEqual({ charged, verified: true, links: charged, used: charged, entries: charged });
  }
  expect(told.after.charged).toBe(told.before.charged + 20);
}

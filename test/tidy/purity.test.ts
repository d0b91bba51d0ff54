import { describe, expect, test } from "vitest";
import { findImpurity, findWaiting } from "./purity.js";
import { parse } from "./source.js";

const core = "packages/bursar/src/core/a.ts";

describe("impure is", () => {
  test.for([
    ["process", "const cwd = process.cwd();"],
    ["Buffer", 'const bytes = Buffer.from("");'],
    ["Date", "const now = Date.now();"],
    ["Date", "const now = new Date();"],
    ["Math.random", "const chance = Math.random();"],
    ["performance", "const now = performance.now();"],
    ["setTimeout", "setTimeout(() => {}, 1);"],
    ["fetch", 'const load = (send = fetch) => send("");'],
    ["console", 'console.log("");'],
    ["globalThis", "const { crypto: c } = globalThis;"],
    ["process", "const parts = { process };"],
    ["process", "const part = parts[process];"],
  ] as const)("%s in %s", ([name, text]) => {
    expect(findImpurity(parse(core, text))).toEqual([expect.stringContaining(`${core}:1 uses ${name};`)]);
  });

  test.for([
    ["a member of that name", "export const at = (clock: { Date: number }) => clock.Date;"],
    ["a key of that name", "export const parts = { process: 1 };"],
    ["a type", "export type Instant = Date | { performance: number };"],
    ["a word in a comment or a string", 'export const text = "process"; // console'],
    ["other mathematics", "export const most = Math.max(1, 2);"],
  ] as const)("not %s", ([, text]) => {
    expect(findImpurity(parse(core, text))).toEqual([]);
  });

  test("not what stands outside the pure folders", () => {
    expect(findImpurity(parse("packages/bursar/src/runtime/a.ts", "Date.now();"))).toEqual([]);
    expect(findImpurity(parse("packages/sandbox/src/analysis/a.ts", "Date.now();"))).toHaveLength(1);
  });
});

describe("waiting is", () => {
  test.for([
    ["await", "export const a = async (b: Promise<void>) => { await b; };"],
    ["for await", "export const a = async (b: AsyncIterable<void>) => { for await (const c of b) c; };"],
    ["await using", "export const a = async (b: AsyncDisposable) => { await using c = b; };"],
  ] as const)("%s", ([, text]) => {
    expect(findWaiting(parse(core, text))).toEqual([expect.stringContaining(`${core}:1 awaits`)]);
  });

  test("not a loop, and not in the chain, where hashing may be asynchronous", () => {
    expect(findWaiting(parse(core, "for (const a of []) a;"))).toEqual([]);
    expect(findWaiting(parse("packages/bursar/src/core/chain/a.ts", "await null;"))).toEqual([]);
  });
});

import { type Json, type Link, parseLine, type Store, sha256Hex, verifyChain } from "bursar";
import type { Forged, Moment } from "./moment.js";

type Verified = Extract<Moment, { kind: "verified" }>;
type Tampered = Extract<Moment, { kind: "tampered" }>;

/** Verifies a chain against the head its store gives. */
export async function prove(store: Store, chain: string): Promise<Verified> {
  return { kind: "verified", verification: await verify(store, chain, await linesOf(store, chain)) };
}

/** Makes a recorded call look cheaper in a copy of the chain, and verifies the copy. */
export async function tamper(store: Store, chain: string): Promise<Tampered> {
  const lines = [...(await linesOf(store, chain))];
  const { forged, line } = forge(lines.map(parseLine), lines);
  lines[forged.seq] = line;
  return { kind: "tampered", forged, verification: await verify(store, chain, lines) };
}

const FORGED_USD = 0.001;

function forge(links: readonly Link[], lines: readonly string[]): { forged: Forged; line: string } {
  for (const { seq, event, data } of links) {
    const from = event === "Consumption" ? costIn(data.resources) : null;
    if (from === null || from === FORGED_USD) continue;
    const line = lines[seq]?.replaceAll(`"cost_usd":${from}`, `"cost_usd":${FORGED_USD}`) ?? "";
    return { forged: { seq, step_id: String(data.step_id), dimension: "cost_usd", from, to: FORGED_USD }, line };
  }
  throw new Error("the chain has no cost to forge");
}

function costIn(resources: Json | undefined): number | null {
  if (typeof resources !== "object" || resources === null || !("cost_usd" in resources)) return null;
  return typeof resources.cost_usd === "number" ? resources.cost_usd : null;
}

async function verify(store: Store, chain: string, lines: readonly string[]) {
  const head = await store.head(chain);
  return verifyChain(lines, { hash: sha256Hex, ...(head === null ? {} : { head }) });
}

async function linesOf(store: Store, chain: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of store.chain(chain)) lines.push(line);
  return lines;
}

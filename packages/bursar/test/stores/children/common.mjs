// What all child processes of the store tests share. They are plain JavaScript because Node 20 runs nothing else, and they
// use the built packages as a user would.
import { writeSync } from "node:fs";
import { PostgresStore } from "bursar/postgres";
import { SqliteStore } from "bursar/sqlite";

/** What this process was asked to do. */
export const errand = JSON.parse(process.argv[2] ?? "{}");

/** Says something to the parent, at once: what stands in a buffer when the process is killed was never said. */
export function say(what) {
  writeSync(1, `${JSON.stringify(what)}\n`);
}

/** Opens the store of an address such as `{ path }` or `{ url, schema }`. */
export function openStore(address) {
  return address.path === undefined ? PostgresStore.open(address) : SqliteStore.open(address);
}

/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** An error as the parent is told of it. */
export function faultOf(error) {
  return { name: error?.name, code: error?.code, message: error?.message };
}

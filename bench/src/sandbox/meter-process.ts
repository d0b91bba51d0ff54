import { readFileSync } from "node:fs";
import { meter } from "@bursar/wasm-fuel";
import { npmPython } from "../../../packages/sandbox/dist/python/python-manifest.js";
import { threadNs } from "./thread-time.js";

/*
 * Run by bench/sandbox-fuel in a process of its own, in which nothing is warm: so it is when a guest is used for the first
 * time. Prints how long it takes to rewrite CPython, as JSON.
 */

export interface MeterTime {
  readonly threadNs: number;
  readonly wallNs: number;
  readonly bytes: number;
}

const wasm = readFileSync(npmPython().wasm);
const [thread, wall] = [threadNs(), performance.now()];
const bytes = meter(wasm, { depth: 2500, maximumPages: 4096, dropData: true }).length;
const time: MeterTime = { threadNs: threadNs() - thread, wallNs: (performance.now() - wall) * 1e6, bytes };
console.log(JSON.stringify(time));

import { createReadStream } from "node:fs";
import { sha256Hex, verifyJsonl } from "bursar";

/*
 * Run by bench/chain in a process of its own, so that its memory is what verifying a file takes and nothing else.
 * Prints what it found as JSON.
 */

const [file = ""] = process.argv.slice(2);
const start = process.hrtime.bigint();
const verification = await verifyJsonl(createReadStream(file), { hash: sha256Hex });
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
const links = verification.ok ? verification.links : 0;
console.log(JSON.stringify({ ok: verification.ok, links, seconds, peakKilobytes: process.resourceUsage().maxRSS }));

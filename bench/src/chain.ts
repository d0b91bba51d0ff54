import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sha256Hex, verifyChain, verifyJsonl } from "bursar";
import { appendLink, emptyHead, type Head, type LinkDraft } from "../../packages/bursar/dist/core/chain/link.js";
import { type AsyncVariant, type Measured, measureAsync } from "./measure.js";
import type { Bar, Bench, Report } from "./report.js";

const CHAIN = "run-4f9d1c02";
/** Few, so that events are still near when they are recorded, as they are in a run that has just made them. */
const LINKS = 200;
const START = 1794786684433;
/** How much a file is read at a time. */
const CHUNK_BYTES = 64 * 1024;
const LINES_PER_WRITE = 1000;
const HASH_MEMBER = /,"hash":"[0-9a-f]{64}"\}$/;
const MEGABYTE = 1024 * 1024;

const MAX_APPEND_RATIO = 4;
const MAX_VERIFY_RATIO = 3;
const MAX_PEAK_MEGABYTES = 200;

export const chain: Bench = {
  name: "chain",
  about: "appending and verifying links, against SHA-256 of the same texts; a long chain in one pass",
  async run(quick) {
    const sample = new Sample();
    const rows = await measureAsync(
      [hashes(sample), appends(sample), verifies(sample), verifiesJsonl(sample)],
      quick ? 20 : 500,
      () => sample.renew(),
    );
    return report(rows, verifyLongChain(quick ? 50_000 : 1_000_000));
  },
};

/** A chain of which every round has a new one: numbers that were written a moment ago are quicker to write again. */
class Sample {
  first = 0;
  drafts: readonly Draft[] = [];
  texts: readonly string[] = [];
  lines: readonly string[] = [];
  chunks: readonly Uint8Array[] = [];
  head: Head = emptyHead(CHAIN);

  renew(): void {
    this.first += LINKS;
    const { first } = this;
    this.drafts = Array.from({ length: LINKS }, (_, seq) => draft(first + seq, seq));
    const lines: string[] = [];
    this.head = write(
      LINKS,
      (seq) => draft(first + seq, seq),
      (line) => lines.push(line),
    );
    // As they come from a store: each in one piece, and not as the parts it was made from.
    this.lines = lines.map(copy);
    this.texts = lines.map((line) => copy(line.replace(HASH_MEMBER, "}")));
    this.chunks = cut(Buffer.from(`${lines.join("\n")}\n`));
  }
}

/** Its cause is filled in when the link before has been written, as it is in a run. */
interface Draft extends LinkDraft {
  cause: string | null;
}

/** Two links for each call, as a run writes them: what it asks for, and what it used. */
function draft(index: number, seq: number): Draft {
  const call = copy(`e14c0361-e9c5-4458-be8c-${(0x5a52b8ea4b23 + (index >> 1)).toString(16)}`);
  const cause = seq === 0 ? null : `${CHAIN}#${seq - 1}`;
  const about = { budget: CHAIN, capability_id: "llm", step_id: call };
  if (index % 2 === 0) {
    const data = { asked: { cost_usd: 0.02, llm_tokens: 2000, steps: 1 }, ...about };
    return { action_type: "StepStarted", at: START + index, cause, data };
  }
  const remaining = { cost_usd: (9e12 - index * 4e6) / 1e9, llm_tokens: 2e9 - index * 1020, steps: 1e7 - index };
  const tokens = { llm_input_tokens: 900 + (index % 50), llm_output_tokens: 120, llm_tokens: 1020 + (index % 50) };
  const resources = { cost_usd: (4e6 + (index % 1000) * 1000) / 1e9, ...tokens, steps: 1 };
  return {
    action_type: "BudgetConsumptionRecorded",
    at: START + index,
    cause,
    data: { budget: CHAIN, call_id: call, capability_id: "llm", estimated: false, remaining, resources, step_id: call },
    event: "Consumption",
  };
}

function write(links: number, draftOf: (seq: number) => LinkDraft, take: (line: string) => void): Head {
  let head = emptyHead(CHAIN);
  for (let seq = 0; seq < links; seq++) {
    const appended = appendLink(head, draftOf(seq), sha256Hex);
    head = appended.head;
    take(appended.line);
  }
  return head;
}

function copy(text: string): string {
  return Buffer.from(text).toString();
}

function cut(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
}

function hashes(sample: Sample): AsyncVariant {
  return {
    name: "baseline: SHA-256 of the text of each link",
    operations: LINKS,
    run() {
      for (const text of sample.texts) sha256Hex(text);
    },
  };
}

function appends(sample: Sample): AsyncVariant {
  return {
    name: "appendLink, events as a run records them",
    operations: LINKS,
    run() {
      let head = emptyHead(CHAIN);
      let cause: string | null = null;
      for (const each of sample.drafts) {
        each.cause = cause;
        const appended = appendLink(head, each, sha256Hex);
        head = appended.head;
        cause = appended.link.id;
      }
      if (head.hash !== sample.head.hash) throw new Error("the bench wrote another chain than before");
    },
  };
}

function verifies(sample: Sample): AsyncVariant {
  return {
    name: "verifyChain, lines as they are stored",
    operations: LINKS,
    async run() {
      const { ok } = await verifyChain(sample.lines, { hash: sha256Hex, head: sample.head });
      if (!ok) throw new Error("the bench wrote a chain that does not verify");
    },
  };
}

function verifiesJsonl(sample: Sample): AsyncVariant {
  return {
    name: "verifyJsonl, bytes as they come from a file",
    operations: LINKS,
    async run() {
      const { ok } = await verifyJsonl(sample.chunks, { hash: sha256Hex, head: sample.head });
      if (!ok) throw new Error("the bench wrote a file that does not verify");
    },
  };
}

interface LongChain {
  readonly ok: boolean;
  readonly links: number;
  readonly seconds: number;
  readonly peakKilobytes: number;
  readonly bytes: number;
}

/** Writes a chain to a file and has another process verify it, whose memory nothing else has grown. */
function verifyLongChain(links: number): LongChain {
  const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
  try {
    const file = join(folder, "chain.jsonl");
    writeFile(file, links);
    const child = fileURLToPath(new URL("./verify-file.js", import.meta.url));
    const found = JSON.parse(execFileSync(process.execPath, [child, file], { encoding: "utf8" }));
    if (found.links !== links) throw new Error(`${found.links} links of ${links} were verified`);
    return { ...found, bytes: statSync(file).size };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writeFile(path: string, links: number): void {
  const file = openSync(path, "w");
  let lines: string[] = [];
  const flush = () => {
    writeSync(file, lines.join(""));
    lines = [];
  };
  const take = (line: string) => {
    if (lines.push(`${line}\n`) >= LINES_PER_WRITE) flush();
  };
  write(links, (seq) => draft(seq, seq), take);
  flush();
  closeSync(file);
}

function report(rows: readonly Measured[], long: LongChain): Report {
  const ratio = (index: number) => rows[index]?.ratio ?? Number.NaN;
  const peak = (long.peakKilobytes * 1024) / MEGABYTE;
  const size = `${(long.bytes / MEGABYTE).toFixed(0)} MB, ${Math.round(long.links / long.seconds).toLocaleString("en")} links a second`;
  const bars: Bar[] = [
    atMost("appending costs", MAX_APPEND_RATIO, [ratio(1)]),
    atMost("verifying costs", MAX_VERIFY_RATIO, [ratio(2), ratio(3)]),
    {
      name: `${long.links.toLocaleString("en")} links from a file in one pass, in less than ${MAX_PEAK_MEGABYTES} MB of memory`,
      measured: `${peak.toFixed(0)} MB at most; ${size}`,
      met: long.ok && peak < MAX_PEAK_MEGABYTES,
    },
  ];
  return { tables: [{ title: "one link, ratio to SHA-256 of its text", rows }], bars };
}

function atMost(what: string, most: number, ratios: readonly number[]): Bar {
  return {
    name: `${what} at most ${most} times the SHA-256 of the same bytes`,
    measured: ratios.map((ratio) => ratio.toFixed(2)).join(", "),
    met: ratios.every((ratio) => ratio <= most),
  };
}

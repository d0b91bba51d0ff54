import { describe, expect, test } from "vitest";
import type { Amounts } from "../../src/core/amount.js";
import type { Operation, Outcome } from "../../src/core/operation.js";
import { type Brief, brief, wholeOutcomes } from "../../src/stores/sqlite/brief.js";

const amounts = { steps: 1, cost_usd: 20 } as unknown as Amounts;
const entry = { run: "r", key: "k", entry: { result: "x".repeat(1000) } };
const document = { kind: "run", id: "r", budget: "b", status: "running", body: { large: "x".repeat(1000) } } as const;
const finding = {} as never;
const notice = {} as never;

const reserve = { op: "reserve", budget: "b", call: "c", kind: "model", asked: amounts } as const;
const commit = { op: "commit", call: "c", used: amounts } as const;
const journal = { op: "journal", ...entry } as const;
const put = { op: "put", ...document, version: 3 } as const;

const admitted = { kind: "admitted", findings: [] } as const;
const reserved = {
  op: "reserve",
  decision: admitted,
  granted: amounts,
  notices: [],
  left_ms: null,
  repeated: false,
  links: ["r#1"],
} as const;
const committed = {
  op: "commit",
  charged: amounts,
  estimated: false,
  repeated: false,
  notices: [],
  links: ["r#2"],
} as const;
const written = { op: "journal", entry, repeated: false, links: [] } as const;

const TABLE: readonly (readonly [what: string, operation: Operation, outcome: Outcome, isBrief: boolean])[] = [
  ["a call that is let in", reserve, reserved, true],
  ["one whose time is limited", reserve, { ...reserved, left_ms: 5000.5 }, true],
  ["one that was let in before", reserve, { ...reserved, repeated: true }, false],
  ["one that is warned of", reserve, { ...reserved, decision: { kind: "admitted", findings: [finding] } }, false],
  ["one that passes a threshold", reserve, { ...reserved, notices: [notice] }, false],
  ["one that is refused", reserve, { ...reserved, decision: { kind: "refused", findings: [] } }, false],
  ["what a call has used", commit, committed, true],
  ["what it is guessed to have used", commit, { ...committed, estimated: true }, false],
  ["what it had used before", commit, { ...committed, repeated: true }, false],
  ["what passes a threshold", commit, { ...committed, notices: [notice] }, false],
  ["an entry", journal, written, true],
  ["an entry that was there before", journal, { ...written, entry: { ...entry, entry: {} }, repeated: true }, false],
  ["a document", put, { op: "put", document: { ...document, version: 4 }, links: [] }, true],
  ["a link", { op: "record", budget: "b", action: {} as never }, { op: "record", links: ["r#3"] }, false],
];

describe("an outcome between two threads", () => {
  test.each(TABLE)("%s comes as it was sent", (_, operation, outcome, isBrief) => {
    const told = JSON.parse(JSON.stringify([brief(outcome)])) as readonly Brief[];
    expect(Array.isArray(told[0])).toBe(isBrief);
    expect(wholeOutcomes(told, [operation])).toEqual([outcome]);
    if (isBrief) expect(JSON.stringify(told).length).toBeLessThan(100);
  });
});

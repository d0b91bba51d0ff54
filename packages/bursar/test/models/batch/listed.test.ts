import { describe, expect, test } from "vitest";
import { AnthropicBatchProvider } from "../../../src/models/batch/anthropic-batch-provider.js";
import type { BatchProvider, Outgoing } from "../../../src/models/batch/batch-provider.js";
import { OpenaiBatchProvider } from "../../../src/models/batch/openai-batch-provider.js";

const NOW = Date.UTC(2026, 0, 2);
const HOUR_MS = 3_600_000;
const OUTGOING: Outgoing = { marker: "m1", created: NOW, lines: [], most: 1 };
const { signal } = new AbortController();

interface Side {
  readonly cursor: string;
  readonly open: (send: typeof fetch) => BatchProvider;
  /** A batch of somebody else as it stands in the list. */
  readonly batch: (id: string, instant: number) => Readonly<Record<string, unknown>>;
}

const SIDES: Readonly<Record<string, Side>> = {
  openai: {
    cursor: "after",
    open: (send) => new OpenaiBatchProvider({ base: "http://here/v1", apiKey: null, timeout_ms: 1000, fetch: send }),
    batch: (id, instant) => ({ id, created_at: instant / 1000, metadata: {} }),
  },
  anthropic: {
    cursor: "after_id",
    open: (send) => new AnthropicBatchProvider({ base: "http://here/v1", apiKey: null, timeout_ms: 1000, fetch: send }),
    batch: (id, instant) => ({
      id,
      created_at: new Date(instant).toISOString(),
      processing_status: "ended",
      request_counts: { succeeded: 2 },
    }),
  },
};

/** Answers with one page after the other, and keeps after which batch each was asked for. */
function lister({ cursor, open }: Side, page: (number: number) => unknown) {
  const asked: (string | null)[] = [];
  const provider = open(async (input) => {
    asked.push(new URL(String(input)).searchParams.get(cursor));
    return Response.json(page(asked.length - 1));
  });
  return { asked, find: () => provider.find(OUTGOING, new Set(), signal) };
}

describe.each(Object.entries(SIDES))("the list of %s", (_, side) => {
  test("is read on behind the last batch of each page, until one was made too early by any clock", async () => {
    const { asked, find } = lister(side, (number) => ({
      data: [
        side.batch(`a${number}`, NOW - number * 60_000 * 5),
        side.batch(`b ${number}`, NOW - number * 60_000 * 5 - 1),
      ],
      has_more: true,
    }));
    expect(await find()).toEqual({ kind: "none" });
    expect(asked).toEqual([null, "b 0", "b 1"]);
  });

  test("ends where it says that there is no more", async () => {
    const { asked, find } = lister(side, () => ({ data: [side.batch("a", NOW)], has_more: false }));
    expect(await find()).toEqual({ kind: "none" });
    expect(asked).toHaveLength(1);
  });

  test("that goes on and on is given up, and nobody can tell", async () => {
    const { asked, find } = lister(side, (number) => ({ data: [side.batch(`a${number}`, NOW)], has_more: true }));
    expect(await find()).toMatchObject({ kind: "untold" });
    expect(asked).toHaveLength(100);
  });

  test("that is none says nothing, and one that is not there never will", async () => {
    expect(await lister(side, () => ({ data: "none" })).find()).toMatchObject({ kind: "later" });
    const gone = side.open(async () => Response.json({ error: {} }, { status: 404 }));
    expect(await gone.find(OUTGOING, new Set(), signal)).toMatchObject({ kind: "untold" });
  });
});

test("a batch with our marker is ours, whatever the provider's clock says of it", async () => {
  const side = SIDES.openai as Side;
  const ours = { ...side.batch("ours", NOW - 100 * HOUR_MS), metadata: { bursar_batch: "m1" } };
  const { find } = lister(side, () => ({ data: [side.batch("a", NOW), ours], has_more: true }));
  expect(await find()).toEqual({ kind: "found", id: "ours" });
});

test("where batches carry no marker, only those are looked into that may have been made since", async () => {
  const side = SIDES.anthropic as Side;
  const small = { request_counts: { succeeded: 1 } };
  const looked: string[] = [];
  const provider = side.open(async (input) => {
    const { pathname } = new URL(String(input));
    if (!pathname.endsWith("/results")) {
      const data = [
        { ...side.batch("young", NOW - HOUR_MS / 12), ...small },
        { ...side.batch("undated", NOW), ...small, created_at: null },
        side.batch("large", NOW),
        { ...side.batch("old", NOW - HOUR_MS), ...small },
      ];
      return Response.json({ data, has_more: false });
    }
    looked.push(pathname.split("/").at(-2) ?? "");
    return new Response(`${JSON.stringify({ custom_id: "other-1", result: { type: "expired" } })}\n`);
  });
  expect(await provider.find(OUTGOING, new Set(), signal)).toEqual({ kind: "none" });
  expect(looked).toEqual(["young", "undated"]);
});

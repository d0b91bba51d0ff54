import { expect, test } from "vitest";
import { BatchWire } from "../../../src/models/batch/batch-wire.js";

test("an address that fetch sends nothing to has done nothing, and never will", async () => {
  const base = "http://127.0.0.1:1/v1";
  const wire = new BatchWire({ base, headers: {}, apiKey: null, timeout_ms: 60_000, fetch });
  const posted = wire.post("/batches", {}, new AbortController().signal);
  await expect(posted).rejects.toMatchObject({ name: "WireFailure", kind: "refused" });
});

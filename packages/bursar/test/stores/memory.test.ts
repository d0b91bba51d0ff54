import { describe, test } from "vitest";
import { MemoryStore } from "../../src/stores/memory.js";
import { describeStore } from "../../src/testing/describe-store.js";

describeStore("memory store", async (options) => new MemoryStore(options), { describe, test });

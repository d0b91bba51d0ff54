import { describe, expect, test } from "vitest";
import { type GatewayOptions, readSettings } from "../../src/gateway/options.js";
import { ProviderCounts } from "../../src/models/meter/provider-count.js";
import { MemoryStore } from "../../src/stores/memory.js";

const settingsWith = (options: Partial<GatewayOptions>) =>
  readSettings({ store: new MemoryStore(), upstreams: [{ name: "openai", url: "http://localhost:1/v1" }], ...options });

describe("who counts the input of a request", () => {
  test("nobody is asked unless it is said", () => {
    expect(settingsWith({}).counts).toBeNull();
    expect(settingsWith({ count: "bytes" }).counts).toBeNull();
    expect(settingsWith({ count: "provider" }).counts).toBeInstanceOf(ProviderCounts);
  });

  test.each(["exactly", "", null, true])("%j is nobody", (count) => {
    expect(() => settingsWith({ count: count as never })).toThrow('allowed: "bytes" or "provider"');
  });
});

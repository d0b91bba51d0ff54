import { describe, expect, test } from "vitest";
import type { Operation } from "../../src/core/operation.js";
import type { Store } from "../../src/ports/store.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { opened } from "./opened.js";
import { until } from "./until.js";

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const ASK = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hi" }], max_tokens: 5000 };
/** Longer than what fits into the buffers of a connection, so that what is cut off is missed. */
const LONG = "word ".repeat(3_000_000);

/** A store that is away as soon as it is asked to do one thing, once it is told to be. */
function failing() {
  const store = new MemoryStore();
  const state: { op: Operation["op"] | "document" | null } = { op: null };
  const away = () => Promise.reject(new Error("postgres://user:password@host is away"));
  const faulty = new Proxy<Store>(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name === "document")
        return (...given: unknown[]) => (state.op === name ? away() : value.apply(target, given));
      if (name !== "apply") return value.bind(target);
      return (operations: readonly Operation[]) =>
        operations.some(({ op }) => op === state.op) ? away() : value.apply(target, [operations]);
    },
  });
  return { store: faulty, state };
}

describe("a store that fails", () => {
  test.each([false, true])(
    "when a call is to be settled: the whole answer is handed on all the same (stream: %s)",
    async (stream) => {
      const { store, state } = failing();
      const told: unknown[] = [];
      const said = stream ? "word ".repeat(1000) : LONG;
      const script = () => ({ kind: "text", text: said, usage: USAGE, ignores_limit: true }) as const;
      const onError = (error: unknown) => told.push(error);
      await using at = await opened(script, { cost_usd: 10 }, { store, onError });
      state.op = "commit";
      const answer = await at.post("/v1/chat/completions", { ...ASK, stream });
      const text = await answer.text();
      expect(answer.status).toBe(200);
      if (stream) expect(text).toMatch(/data: \[DONE\]\n\n$/);
      else expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: said } }] });
      await until("it is told", () => told.length === 1);
      // Nobody knows what was used, so what was reserved stays held.
      expect(Object.keys(await at.held())).toContain("cost_usd");
      expect(at.model.count).toBe(1);
      // A connection on which all went well for the client is kept.
      state.op = null;
      expect((await at.post("/v1/chat/completions", ASK)).status).toBe(200);
    },
  );

  test.each(["reserve", "document"] as const)(
    "at %s: nothing is sent, and nothing of the store is told",
    async (op) => {
      const { store, state } = failing();
      const told: unknown[] = [];
      await using at = await opened([], { cost_usd: 1 }, { store, onError: (error) => told.push(error) });
      state.op = op;
      const answer = await at.post("/v1/chat/completions", ASK);
      const text = await answer.text();
      expect([answer.status, JSON.parse(text)]).toMatchObject([502, { error: { code: "gateway_failed" } }]);
      expect(text).not.toContain("password");
      expect(told).toHaveLength(1);
      expect(at.model.count).toBe(0);
    },
  );
});

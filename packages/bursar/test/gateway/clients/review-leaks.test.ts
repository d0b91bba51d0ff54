import { getEventListeners } from "node:events";
import { Agent, request } from "node:http";
import { expect, test } from "vitest";
import { opened } from "../opened.js";

const usage = { prompt_tokens: 100, completion_tokens: 20 };
test("nothing is left on a connection that is used again", async () => {
  const script = Array.from({ length: 120 }, (_, i) =>
    i % 4 === 0 ? { kind: "status", status: 500 } : i % 4 === 1 ? { kind: "text", text: "w ".repeat(100), usage } : { kind: "text", text: "x", usage },
  );
  await using at = await opened(script as never, { cost_usd: 100, llm_tokens: 200_000 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (body: object, path = "/v1/chat/completions", key = at.secret) =>
    new Promise<number>((resolve, reject) => {
      const r = request(`${at.gateway.url}${path}`, { agent, method: "POST", headers: { authorization: `Bearer ${key}` } }, (a) => a.resume().on("end", () => resolve(a.statusCode ?? 0)));
      r.on("error", reject);
      r.end(JSON.stringify(body));
    });
  const base = { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], max_tokens: 100 };
  const seen: Record<number, number> = {};
  let counts: unknown[] = [];
  for (let i = 0; i < 100; i++) {
    const status = i % 10 === 9 ? await ask({ ...base, max_tokens: 10_000_000, messages: [{ role: "user", content: "x ".repeat(150_000) }] }) : await ask({ ...base, stream: i % 2 === 0 });
    seen[status] = (seen[status] ?? 0) + 1;
    const { connected } = (at.gateway as never as { listening: { connected: Set<never> } }).listening;
    const [c] = connected as never as Set<{ leaving: AbortSignal; socket: never }>;
    if (c === undefined) continue;
    const s = c.socket as never as { eventNames(): string[]; listenerCount(n: string): number };
    counts.push([i, connected.size, getEventListeners(c.leaving, "abort").length, ...s.eventNames().map((n) => `${String(n)}:${s.listenerCount(n)}`)].join(" "));
  }
  console.log(seen, counts[1], counts.at(-1));
  expect(true).toBe(true);
  agent.destroy();
}, 60_000);

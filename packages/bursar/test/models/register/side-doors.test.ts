import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openScriptedModel } from "bursar/testing";
import { expect, test } from "vitest";
import { runProgram } from "./program.js";

const FREE = ["a look", "http elsewhere", "undici elsewhere", "fetch elsewhere", "a redirect elsewhere"];

test("no request of Node's own clients reaches a provider past the budget, and all others pass", async () => {
  await using model = await openScriptedModel({ script: () => ({ kind: "text", text: "Hi." }) });
  const seen: string[] = [];
  const room = createServer((request, response) => {
    const to = new URL(request.url ?? "", "http://room").searchParams.get("to");
    seen.push(request.url ?? "");
    request.resume();
    response.writeHead(to === null ? 200 : 307, to === null ? {} : { location: to }).end();
  });
  await new Promise<void>((resolve) => room.listen(0, "127.0.0.1", resolve));
  try {
    const elsewhere = `http://127.0.0.1:${(room.address() as AddressInfo).port}`;
    const env = { BURSAR_BUDGET: "steps=5", BURSAR_HOSTS: new URL(model.origin).host };
    const { outcomes, stderr } = await runProgram("side-doors", [model.origin, elsewhere], env);
    expect(outcomes, stderr).toHaveLength(33);
    for (const outcome of outcomes) {
      if (FREE.includes(String(outcome.value))) expect(outcome, stderr).toMatchObject({ status: expect.any(Number) });
      else expect(outcome).toMatchObject({ error: expect.stringContaining("is not metered") });
    }
    expect(model.count).toBe(0);
    expect(seen.filter((url) => !url.startsWith("/redirect"))).toEqual([
      ...["/v1/images/generations", "/v1/images/generations", "/v1/images/generations", "/"],
    ]);
  } finally {
    room.closeAllConnections();
    await new Promise((resolve) => room.close(resolve));
  }
});

test("what is paid for passes also where it waits for the connection of another request", async () => {
  await using model = await openScriptedModel({ script: () => ({ kind: "text", text: "Hi." }) });
  const { outcomes, stderr } = await runProgram("pool", [model.origin], { BURSAR_BUDGET: "steps=4" }, model);
  expect(
    outcomes.filter(({ value, status }) => value === "call" && status === 200),
    stderr,
  ).toHaveLength(4);
  expect(model.count).toBe(4);
});

import { expect, test } from "vitest";
import { until } from "../gateway/until.js";
import { listen } from "./listening.js";
import { opened, TIGHT } from "./scene.js";

test("a server that closes ends streams with a last word, and waits for nobody else than those under way", async () => {
  await using at = await opened();
  const { id } = await at.start("abc", TIGHT);
  using changes = await listen(`${at.url}/api/v1/events`);
  using run = await listen(`${at.url}/api/v1/runs/${id}/events`);
  await run.hears("the run", ({ event }) => event === "run");
  // With so much patience the test would never end if it waited for the streams.
  await at.server.close({ within_ms: 2 ** 30 });
  for (const each of [changes, run]) {
    await each.hears("that it closes", ({ event }) => event === "closing");
    await until("it is over", () => each.isOver());
  }
  await expect(fetch(`${at.url}/health`)).rejects.toThrow();
  // What stood still does so for whoever comes next.
  expect(await at.bursar.find(id)).toMatchObject({ status: "paused" });
});

test("a request that waits for a run is answered before it is closed", async () => {
  await using at = await opened();
  const { pause } = await at.start("abc", TIGHT);
  await at.bursar[Symbol.asyncDispose]();
  const path = `/api/v1/approvals/${pause?.approvals[0]}/approve?wait=60000`;
  const answer = at.post<{ run: { status: string } }>(path);
  await until(
    "it is decided",
    async () => (await at.store.document("approval", pause?.approvals[0] ?? ""))?.status === "approved",
  );
  await at.server.close({ within_ms: 2 ** 30 });
  expect(await answer).toMatchObject({ status: 200, body: { run: { status: "queued" } } });
});

test("a server may be closed twice, and whoever is told of requests cannot make it fail", async () => {
  const told: string[] = [];
  const onServed = ({
    method,
    route,
    status,
    name,
  }: {
    method: string;
    route: string;
    status: number;
    name: string | null;
  }) => {
    told.push(`${method} ${route} ${status} ${name}`);
    throw new Error("the screen is full");
  };
  const onError = () => {
    throw new Error("so is the log");
  };
  await using at = await opened({ onServed, onError });
  await at.get("/api/v1/me");
  await at.get("/nothing");
  await until("all are told", () => told.length === 3);
  expect(told).toEqual(["GET /openapi.json 200 null", "GET /api/v1/me 200 operator", "GET page 404 null"]);
  await Promise.all([at.server.close(), at.server.close()]);
});

import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, Latch, listOf, pausedOf, settle, Theatre } from "./stage.js";

/** Sends letters, each of which a human has to allow. */
function post() {
  const sent: string[] = [];
  const send = defineTool({
    name: "send",
    description: "Sends a letter.",
    input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    approval: true,
    run: ({ to }: { to: string }) => {
      sent.push(to);
      return `to ${to}`;
    },
  });
  return { sent, send };
}

const writer = defineAgent("writer", async (ctx, { to }: { to: string[] }) => {
  const answers: string[] = [];
  for (const name of to) {
    answers.push(await ctx.tool<string>("send", { to: name }).catch(({ code }: RunError) => code));
  }
  return answers;
});

test("a yes is for this very action, and for one time", async () => {
  const { sent, send } = post();
  const theatre = new Theatre([writer], [send]);
  const one = pausedOf(
    await theatre.until(theatre.process().run("writer", { to: ["ann", "ann", "bob"] }, { id: "r" })),
  );
  const [first] = await listOf(theatre.process().approvals());
  expect(first).toMatchObject({
    kind: "capability_execution",
    action: { capability_id: "send", args: { args: { to: "ann" } } },
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  // The same letter again needs a yes of its own.
  const two = pausedOf(await theatre.until(theatre.process().approve(one.approval_id ?? "", { by: ANN })));
  expect(sent).toEqual(["ann"]);
  expect(two.approval_id).not.toBe(one.approval_id);
  const [second] = await listOf(theatre.process().approvals());
  expect(second?.digest).toBe(first?.digest);
  const three = pausedOf(await theatre.until(theatre.process().approve(two.approval_id ?? "", { by: ANN })));
  expect(sent).toEqual(["ann", "ann"]);
  const [third] = await listOf(theatre.process().approvals());
  expect(third?.digest).not.toBe(first?.digest);
  await theatre.until(theatre.process().approve(three.approval_id ?? "", { by: ANN }));
  expect(sent).toEqual(["ann", "ann", "bob"]);
  const used = (await listOf(theatre.process().approvals("approved"))).map(({ consumed_by }) => consumed_by);
  expect(used.toSorted()).toEqual(["r/0", "r/1", "r/2"]);
});

test("a yes that was given cannot be given again", async () => {
  const { sent, send } = post();
  const theatre = new Theatre([writer], [send]);
  const { approval_id } = pausedOf(await theatre.until(theatre.process().run("writer", { to: ["ann"] }, { id: "r" })));
  await theatre.until(theatre.process().approve(approval_id ?? "", { by: ANN }));
  await expect(theatre.process().approve(approval_id ?? "", { by: ANN })).rejects.toThrow("approved by ann already");
  expect(sent).toEqual(["ann"]);
});

test("two equal letters at the same time need two answers, and each is sent once", async () => {
  const { sent, send } = post();
  const twin = defineAgent("twin", async (ctx) =>
    Promise.all([ctx.tool("send", { to: "ann" }), ctx.tool("send", { to: "ann" })]),
  );
  const theatre = new Theatre([twin], [send]);
  let result = await theatre.until(theatre.process().run("twin", null, { id: "r" }));
  for (let turn = 1; turn <= 2; turn++) {
    const { approval_id } = pausedOf(result);
    result = await theatre.until(theatre.process().approve(approval_id ?? "", { by: ANN }));
    expect(sent).toHaveLength(turn);
  }
  expect(result).toMatchObject({ status: "completed", result: ["to ann", "to ann"] });
});

test("different letters at the same time are asked for together, and each has an answer of its own", async () => {
  const { sent, send } = post();
  const both = defineAgent("both", async (ctx) =>
    Promise.all(["ann", "bob"].map((to) => ctx.tool<string>("send", { to }).catch(({ code }: RunError) => code))),
  );
  const theatre = new Theatre([both], [send]);
  const paused = pausedOf(await theatre.until(theatre.process().run("both", null, { id: "r" })));
  expect(paused.approvals).toHaveLength(2);
  const requests = await listOf(theatre.process().approvals());
  const forBob = requests.find(({ action }) => JSON.stringify(action).includes("bob"));
  const forAnn = requests.find(({ action }) => JSON.stringify(action).includes("ann"));
  pausedOf(await theatre.until(theatre.process().deny(forBob?.id ?? "", { by: ANN })));
  const done = await theatre.until(theatre.process().approve(forAnn?.id ?? "", { by: ANN }));
  expect(done).toMatchObject({ status: "completed", result: ["to ann", "denied"] });
  expect(sent).toEqual(["ann"]);
});

test("two people who answer two requests of one run at the same moment are both heard", async () => {
  const { sent, send } = post();
  const both = defineAgent("both", async (ctx) =>
    Promise.all(["ann", "bob"].map((to) => ctx.tool<string>("send", { to }))),
  );
  const theatre = new Theatre([both], [send]);
  const { approvals } = pausedOf(await theatre.until(theatre.process().run("both", null, { id: "r" })));
  const answers = approvals.map((id) => theatre.process().approve(id, { by: ANN }));
  await theatre.until(Promise.allSettled(answers));
  const decided = await listOf(theatre.process().approvals("approved"));
  expect(decided).toHaveLength(2);
  await theatre.until(theatre.process().resume("r"));
  expect(sent.toSorted()).toEqual(["ann", "bob"]);
});

test("two people who answer one request at the same moment: one of them decides", async () => {
  const { sent, send } = post();
  const theatre = new Theatre([writer], [send]);
  const { approval_id } = pausedOf(await theatre.until(theatre.process().run("writer", { to: ["ann"] }, { id: "r" })));
  const id = approval_id ?? "";
  const bob = { name: "bob", role: "admin" } as const;
  const answers = await theatre.until(
    Promise.allSettled([theatre.process().approve(id, { by: ANN }), theatre.process().deny(id, { by: bob })]),
  );
  const lost = answers.filter(({ status }) => status === "rejected");
  expect(lost).toHaveLength(1);
  expect(String((lost[0] as PromiseRejectedResult).reason)).toMatch(/was just decided|already/);
  const done = await theatre.until(theatre.process().drive("r"));
  expect(done.status).toBe("completed");
  expect(sent.length === 1).toBe((await listOf(theatre.process().approvals("approved"))).length === 1);
});

test("a request that has expired and was asked anew is no longer in the queue", async () => {
  const { send } = post();
  const theatre = new Theatre([writer], [send]);
  const first = pausedOf(await theatre.until(theatre.process().run("writer", { to: ["ann"] }, { id: "r" })));
  theatre.clock.advance(25 * 60 * 60_000);
  const second = pausedOf(await theatre.until(theatre.process().resume("r")));
  expect(second.approval_id).not.toBe(first.approval_id);
  expect((await listOf(theatre.process().approvals())).map(({ id }) => id)).toEqual([second.approval_id]);
  expect((await listOf(theatre.process().approvals("expired"))).map(({ id }) => id)).toEqual([first.approval_id]);
});

test("the chain says once that something was asked for", async () => {
  const { send } = post();
  const theatre = new Theatre([writer], [send]);
  await theatre.until(theatre.process().run("writer", { to: ["ann"] }, { id: "r" }));
  await theatre.until(theatre.process().resume("r"));
  expect((await theatre.events("r")).filter((event) => event === "ApprovalRequested")).toHaveLength(1);
});

test("a no to a server that was found does not cancel the run that stands still for something else", async () => {
  const { send } = post();
  const theatre = new Theatre([writer], [send]);
  const bursar = theatre.process();
  const paused = pausedOf(await theatre.until(bursar.run("writer", { to: ["ann"] }, { id: "r" })));
  const found = await bursar.request("r", "server_discovery", { url: "https://tools.example" });
  expect(await theatre.until(bursar.deny(found.id, { by: ANN }))).toMatchObject({ status: "paused" });
  const done = await theatre.until(bursar.approve(paused.approval_id ?? "", { by: ANN }));
  expect(done).toMatchObject({ status: "completed", result: ["to ann"] });
});

test("what nobody stands still for is withdrawn with its run, and nothing follows the end of a chain", async () => {
  const { send } = post();
  const theatre = new Theatre([writer], [send]);
  const bursar = theatre.process();
  await theatre.until(bursar.run("writer", { to: [] }, { id: "done" }));
  const running = await bursar.start("writer", { to: ["ann"] }, { id: "r" });
  const found = await bursar.request(running.id, "server_discovery", { url: "https://tools.example" });
  await theatre.until(bursar.cancel("r", ANN));
  await bursar.approve(found.id, { by: ANN }).catch(() => {});
  expect((await theatre.events("r")).at(-1)).toBe("RunCompleted");
  expect(await listOf(bursar.approvals())).toEqual([]);
});

for (const interrupted of ["repeat", "fail"] as const) {
  test(`a call in the middle of which the worker died, with interrupted: "${interrupted}"`, async () => {
    let begun = 0;
    const gate = new Latch();
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: {},
      interrupted,
      run: async () => {
        begun++;
        await gate.opened;
        return "paid";
      },
    });
    const payer = defineAgent("payer", async (ctx) =>
      ctx.tool("pay").catch(({ code, message }: RunError) => ({ code, message })),
    );
    const theatre = new Theatre([payer], [pay]);
    const dead = theatre.process({ claim_ms: 5000 });
    dead.run("payer", null, { id: "r" }).catch(() => {});
    await settle();
    expect(begun).toBe(1);
    void dead[Symbol.asyncDispose]();
    await settle();
    theatre.clock.advance(5001);
    gate.open();
    const done = await theatre.until(theatre.process().drive("r"));
    if (interrupted === "fail") {
      expect(begun).toBe(1);
      expect(done).toMatchObject({ status: "completed", result: { code: "interrupted" } });
      expect(JSON.stringify(done.result)).toContain("whether it has happened is not known");
    } else {
      expect(begun).toBe(2);
      expect(done).toMatchObject({ status: "completed", result: "paid" });
    }
    expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
  });
}

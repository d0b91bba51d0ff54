import { describe, expect, test } from "vitest";
import { readAmounts } from "../../src/core/input.js";
import { requestExtension } from "../../src/runs/extension-request.js";
import { Gate } from "../../src/runtime/gate.js";
import type { ApprovalView, Page, RunView } from "../../src/views/views.js";
import { opened, TIGHT, type Told } from "./scene.js";

interface Decided {
  readonly approval: ApprovalView;
  readonly run: RunView | null;
}

async function waiting() {
  const at = await opened();
  const { id, pause } = await at.start("abcd", TIGHT);
  const approval = pause?.approvals[0] ?? "";
  return {
    at,
    id,
    approval,
    path: `/api/v1/approvals/${approval}`,
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  };
}

describe("a request for approval", () => {
  test("is listed and shown, and a yes lets the run go on to its end", async () => {
    await using scene = await waiting();
    const { at, approval, path, id } = scene;
    const { body: list } = await at.get<Page<ApprovalView>>("/api/v1/approvals?status=pending");
    expect(list.items).toMatchObject([{ id: approval, run: id, exhausted_dimension: "steps", program: "talker" }]);
    expect((await at.get<ApprovalView>(path)).body).toEqual(list.items[0]);
    const { body } = await at.post<Decided>(`${path}/approve?wait=60000`, { extensions: { steps: 5 }, reason: "fine" });
    expect(body.approval).toMatchObject({ status: "approved", decision: { by: "operator", reason: "fine" } });
    expect(body.run).toMatchObject({ id, status: "completed", result: 4 });
    const { body: chain } = await at.get<string>(`/api/v1/runs/${id}/chain.jsonl`);
    expect(chain).toContain('"approved_by":"operator"');
  });

  test("says apart what is held in its budget, and the description knows of it", async () => {
    await using at = await opened();
    using gate = new Gate({ store: at.store });
    await gate.open("team", { limits: { cost_usd: 2 }, scope: "shared" });
    const call = { budget: "team", call: "c", kind: "model", capability_id: "model:x" } as const;
    await at.store.apply([{ op: "reserve", ...call, asked: readAmounts({ cost_usd: 1.5 }) }]);
    const { id } = await requestExtension(at.store, { budget: "team", dimension: "cost_usd", action: {} });
    const { body } = await at.get<ApprovalView>(`/api/v1/approvals/${id}`);
    expect(body).toMatchObject({ consumed: { cost_usd: 0 }, held: { cost_usd: 1.5 }, limits: { cost_usd: 2 } });
    const { body: described } = await at.get<object>("/openapi.json");
    const held = { type: "object", description: expect.stringContaining("reserved") };
    const shape = { properties: { held }, required: expect.arrayContaining(["held"]) };
    expect(described).toMatchObject({ components: { schemas: { ApprovalView: shape } } });
  });

  test("takes what was suggested unless it is told otherwise, and stops at the next pause", async () => {
    await using scene = await waiting();
    const { body } = await scene.at.post<Decided>(`${scene.path}/approve?wait=60000`, { extensions: { steps: 1 } });
    expect(body.run).toMatchObject({ status: "paused", requests: [{ exhausted_dimension: "steps" }] });
    const next = body.run?.requests[0]?.id;
    const { body: then } = await scene.at.post<Decided>(`/api/v1/approvals/${next}/approve?wait=60000`);
    expect(then.run?.status).toBe("completed");
  });

  test("that is denied ends the run, with the reason", async () => {
    await using scene = await waiting();
    const { body } = await scene.at.post<Decided>(`${scene.path}/deny?wait=60000`, { reason: "too much" });
    expect(body).toMatchObject({
      approval: { status: "denied" },
      run: { status: "cancelled", cancel: { reason: "too much" } },
    });
  });

  test("is decided once, however many decide at once", async () => {
    await using scene = await waiting();
    const { at, path, id } = scene;
    const answers = await Promise.all(
      ["approve", "deny", "approve", "approve", "deny"].map((verb) => at.post<Told>(`${path}/${verb}`)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 409, 409, 409, 409]);
    for (const { status, body } of answers) if (status === 409) expect(body.error.code).toBe("decided");
    const late = await at.post(`${path}/deny`);
    expect([late.status, late.body.error.code]).toEqual([409, "decided"]);
    await at.still(id);
    const { body: chain } = await at.get<string>(`/api/v1/runs/${id}/chain.jsonl`);
    expect(chain.match(/"action_type":"ApprovalDecided"/g)).toHaveLength(1);
  });

  test("is not answered by who names a checkpoint where the run does not stand any more", async () => {
    await using scene = await waiting();
    const { at, id } = scene;
    const at1 = `/api/v1/approvals/${encodeURIComponent((await at.get<RunView>(`/api/v1/runs/${id}`)).body.pause?.checkpoint_id ?? "")}`;
    const { body } = await at.post<Decided>(`${at1}/approve?wait=60000`, { extensions: { steps: 1 } });
    expect(body.run).toMatchObject({ status: "paused", requests: [{ status: "pending" }] });
    const anywhere = `/api/v1/approvals/${encodeURIComponent(`${id}/checkpoint`)}`;
    for (const path of [`${at1}/approve`, `${at1}/deny`, `${anywhere}/approve`, `${anywhere}/deny`]) {
      const late = await at.post(path);
      expect([late.status, late.body.error.code]).toEqual([409, "not_open"]);
    }
    const { body: now } = await at.get<RunView>(`/api/v1/runs/${id}`);
    expect(now).toMatchObject({ status: "paused", requests: [{ id: body.run?.requests[0]?.id, status: "pending" }] });
  });

  test.each([
    ["/api/v1/approvals/nothing", "GET", {}, 404, "no_such_approval"],
    ["/api/v1/approvals/nothing/approve", "POST", {}, 404, "no_such_approval"],
    ["PATH/approve", "POST", { extensions: { cots_usd: 1 } }, 400, "invalid_input"],
    ["PATH/approve", "POST", { extensions: { steps: -1 } }, 400, "invalid_input"],
    ["PATH/approve", "POST", { extensions: { steps: "many" } }, 400, "invalid_input"],
    ["PATH/approve", "POST", { extensions: { llm_input_tokens: 5 } }, 400, "invalid_input"],
    ["PATH/approve", "POST", { extension: {} }, 400, "invalid_input"],
    ["PATH/approve", "POST", { reason: "x".repeat(3000) }, 400, "invalid_input"],
    ["PATH/approve?wait=soon", "POST", {}, 400, "invalid_input"],
    ["PATH/approve?wait=600000", "POST", {}, 400, "invalid_input"],
    ["PATH/deny", "POST", { extensions: {} }, 400, "invalid_input"],
    ["/api/v1/approvals?status=open", "GET", {}, 400, "invalid_input"],
    ["/api/v1/approvals?stats=pending", "GET", {}, 400, "invalid_input"],
  ])("%s %s %j: %d %s, and nothing is decided", async (path, method, body, status, code) => {
    await using scene = await waiting();
    const answer = await scene.at.ask(method, path.replace("PATH", scene.path), body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(answer.body.error.hint).not.toBe("");
    expect((await scene.at.get<ApprovalView>(scene.path)).body.status).toBe("pending");
    expect(scene.at.errors).toEqual([]);
  });
});

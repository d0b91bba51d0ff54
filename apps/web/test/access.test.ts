import { MemoryStore } from "bursar";
import { Keys } from "bursar/gateway";
import { Tokens } from "bursar/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openScene, POLL, type Scene } from "./scene.js";

const secrets = { admin: "", viewer: "" };
let scene: Scene;
beforeAll(async () => {
  const store = new MemoryStore();
  const tokens = new Tokens(store);
  secrets.admin = (await tokens.create({ name: "ann", role: "admin" })).secret;
  secrets.viewer = (await tokens.create({ name: "vic", role: "viewer" })).secret;
  const sandbox = { list: () => [{ id: "box-1", language: "python" }], destroy: async () => true };
  const limits = [
    { dimension: "cost_usd", value: 0.5, policy: "approval_required", origin: "bursar.yaml:12:7" },
    { dimension: "fuel", value: null, policy: "hard_stop", origin: "default" },
  ];
  const config = () => ({ file: "/etc/bursar.yaml", limits, presets: ["careful"] });
  scene = await openScene({ store, server: { requireLogin: true, sandbox, config } });
});
afterAll(() => scene[Symbol.asyncDispose]());

async function loggedIn(path: string, secret: string) {
  const visit = await scene.visit(path);
  await visit.page.getByLabel("Token").fill(secret);
  await visit.page.getByRole("button", { name: "Log in" }).click();
  await visit.page.getByRole("button", { name: "Log out" }).waitFor();
  return visit;
}

describe("where a login is demanded", () => {
  test("nobody sees anything before it, and whoever logs in gets to where he wanted", async () => {
    const run = await scene.run("researcher");
    await using visit = await scene.visit(`/runs/${run}`);
    const { page } = visit;
    await page.getByRole("heading", { name: "Log in to Bursar" }).waitFor();
    await expect.poll(() => page.getByText("researcher").count(), POLL).toBe(0);

    await page.getByLabel("Token").fill("bursar_token_wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();

    await page.getByLabel("Token").fill(secrets.admin);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "researcher", level: 1 }).waitFor();
    await page.getByText("ann").waitFor();
    // A script on the page must not be able to take the login along.
    await expect.poll(() => page.evaluate("document.cookie"), POLL).toBe("");
  });

  test("the name of whoever decides goes into the chain", async () => {
    const run = await scene.run("researcher");
    await using visit = await loggedIn(`/runs/${run}`, secrets.admin);

    await visit.page.getByRole("button", { name: "Deny" }).click();

    await expect.poll(async () => (await scene.bursar.find(run)).status, POLL).toBe("cancelled");
    await visit.page.getByText("ann", { exact: false }).first().waitFor();
    const lines: string[] = [];
    for await (const line of scene.store.chain(run)) lines.push(line);
    expect(lines.join("\n")).toContain('"denied_by":"ann"');
  });

  test("a viewer sees everything and is offered nothing that he may not do", async () => {
    const run = await scene.run("researcher");
    await using visit = await loggedIn(`/runs/${run}`, secrets.viewer);
    const { page } = visit;

    await page.getByText("You are viewer: an operator has to answer.").waitFor();
    for (const name of ["Approve", "Deny", "Cancel run …", "Extend …"]) {
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    }
    await expect.poll(() => page.getByRole("link", { name: "Tokens" }).count(), POLL).toBe(0);
  });

  test("a login that has ended leads back to the login, and from there to where one was", async () => {
    const { token, secret } = await new Tokens(scene.store).create({ name: "tom", role: "operator" });
    await using visit = await loggedIn("/sessions", secret);
    await visit.page.getByRole("heading", { name: "Sessions" }).first().waitFor();

    await new Tokens(scene.store).revoke(token.id);
    await visit.page.getByRole("link", { name: "Runs" }).click();

    await visit.page.getByText("Your login has ended.").waitFor();
  });

  test("whoever logs out is out", async () => {
    await using visit = await loggedIn("/", secrets.viewer);

    await visit.page.getByRole("button", { name: "Log out" }).click();
    await visit.page.getByRole("heading", { name: "Log in to Bursar" }).waitFor();
    await visit.page.reload();

    await visit.page.getByRole("heading", { name: "Log in to Bursar" }).waitFor();
  });
});

describe("an admin", () => {
  test("makes a token, sees its secret once, and revokes it", async () => {
    await using visit = await loggedIn("/tokens", secrets.admin);
    const { page } = visit;
    await page.getByText("New access token").click();
    await page.getByLabel("Whose").fill("zoe");
    await page.getByLabel("Role").selectOption("operator");
    await page.getByRole("button", { name: "Make access token" }).click();

    const dialog = page.getByRole("dialog", { name: "Access token of zoe" });
    const secret = await dialog.locator("code").innerText();
    expect(await new Tokens(scene.store).find(secret)).toMatchObject({ name: "zoe", role: "operator" });
    await dialog.getByRole("button", { name: "I have it" }).click();
    await expect.poll(() => page.content(), POLL).not.toContain(secret);

    await page.getByRole("button", { name: "Revoke access token of zoe" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("row", { name: /zoe/ }).getByText("revoked").waitFor();
    expect(await new Tokens(scene.store).find(secret)).toBeNull();
  });

  test("makes, rotates and revokes a key of the gateway", async () => {
    await using visit = await loggedIn("/keys", secrets.admin);
    const { page } = visit;
    await page.getByText("New key").click();
    await page.getByLabel("Label").fill("build server");
    await page.getByLabel("Limit of cost in USD").fill("2.5");
    await page.getByRole("button", { name: "Make key" }).click();
    const dialog = page.getByRole("dialog", { name: "Secret of build server" });
    const first = await dialog.locator("code").innerText();
    await dialog.getByRole("button", { name: "I have it" }).click();
    await page.getByRole("img", { name: "Cost: $0.00 of $2.50 used (0 %)" }).waitFor();
    await page.getByText("No gateway is mounted here").waitFor();

    await page.getByRole("button", { name: "Rotate build server" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const second = await dialog.locator("code").innerText();
    expect(second).not.toBe(first);
    await dialog.getByRole("button", { name: "I have it" }).click();

    await page.getByRole("button", { name: "Revoke build server" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page
      .getByRole("row", { name: /build server/ })
      .getByText("revoked")
      .waitFor();
    // A browser writes down that nobody was logged in at first; nothing else may go wrong.
    expect(visit.faults.filter((fault) => !fault.includes("401"))).toEqual([]);
  });

  test("limits a key by any dimension there is, and by nothing at all", async () => {
    await using visit = await loggedIn("/keys", secrets.admin);
    const { page } = visit;
    await page.getByText("New key").click();
    await page.getByLabel("Label").fill("thrifty");
    await page.getByLabel("Limit of cost in USD").fill("0");
    await page.getByText("Nothing of it is allowed.").waitFor();
    const also = page.getByLabel("Limit also");
    await expect.poll(() => also.locator("option").count(), POLL).toBe(12);
    const [, ...others] = await also.locator("option").allInnerTexts();
    for (const label of others) await also.selectOption({ label });
    await expect.poll(() => page.getByLabel("Limit also").count(), POLL).toBe(0);
    for (const field of await page.getByRole("textbox", { name: /^Limit of / }).all()) {
      if ((await field.inputValue()) === "") await field.fill("7");
    }
    await page.getByRole("button", { name: "Remove the limit of fuel" }).click();
    await expect.poll(() => page.evaluate("document.activeElement.labels?.[0]?.textContent"), POLL).toBe("Limit also");
    await page.getByRole("textbox", { name: "Limit of steps" }).fill("-1");
    await expect.poll(() => page.getByRole("button", { name: "Make key" }).isDisabled(), POLL).toBe(true);
    await page.getByRole("textbox", { name: "Limit of steps" }).fill("0");
    await page.getByRole("button", { name: "Make key" }).click();
    await page.getByRole("dialog", { name: "Secret of thrifty" }).waitFor();
    const key = (await new Keys(scene.store).list()).find(({ label }) => label === "thrifty");
    const { limits } = (await scene.store.budget(key?.budget ?? "")) ?? {};
    expect(limits).toMatchObject({ cost_usd: 0, llm_tokens: 7, steps: 0, network_egress_bytes: 7, wall_clock_ms: 7 });
    expect([Object.keys(limits ?? {}).length, Object.keys(limits ?? {})]).toEqual([
      12,
      expect.not.arrayContaining(["fuel"]),
    ]);
    expect(visit.faults.filter((fault) => !fault.includes("401"))).toEqual([]);
  });

  test("sees sessions, ends a sandbox, and sees where each limit comes from", async () => {
    await scene.bursar.openSession("team-b", { cost_usd: 3 });
    await scene.run("researcher", { questions: ["one"] }, { session: "team-b", limits: { cost_usd: 1 } });
    await using visit = await loggedIn("/sessions", secrets.admin);
    const { page } = visit;
    await page.getByRole("heading", { name: "team-b" }).waitFor();
    await page.getByRole("img", { name: "Cost: $0.04 of $3.00 used (1 %)" }).waitFor();
    await page.getByRole("button", { name: "Destroy session box-1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Destroy" }).click();
    await page.getByText("Session box-1 is destroyed").waitFor();

    await page.getByRole("link", { name: "Configuration" }).click();
    const row = page.getByRole("row", { name: /^Cost/ });
    await row.waitFor();
    await expect.poll(() => row.innerText(), POLL).toMatch(/\$0\.50\s+approval required\s+bursar\.yaml:12:7/);
    await expect.poll(() => page.getByRole("row", { name: /^Fuel/ }).innerText(), POLL).toContain("no limit");
  });
});

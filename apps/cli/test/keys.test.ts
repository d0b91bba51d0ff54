import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { openStore, parseLine, readAmounts } from "bursar";
import { Keys } from "bursar/gateway";
import { afterAll, describe, expect, test } from "vitest";
import { bursar, inOne, severally } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-keys-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "keys.db");
const env = { BURSAR_STORE: `sqlite:${file}`, BURSAR_CONFIG: "" };

interface Made {
  readonly key: { readonly id: string; readonly budget: string; readonly expires: number | null };
  readonly secret: string;
}

function json<Said>(...args: readonly string[]): Said {
  const { status, stdout, stderr } = bursar(["keys", ...args, "--json"], env);
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Said;
}

async function find(secret: string) {
  await using store = await openStore(env.BURSAR_STORE);
  return new Keys(store).find(secret);
}

const MISTAKEN: readonly (readonly [readonly string[], number, string])[] = [
  [["creat"], 2, "did you mean create?"],
  [["create"], 2, "who pays is missing"],
  [["create", "--limits", "cots_usd=5"], 2, "did you mean cost_usd?"],
  [["create", "--limits", "steps=5", "--polices", "steps=hard_stop"], 2, "did you mean --policies?"],
  [["create", "--limits", "steps=5", "--policies", "steps=sometimes"], 2, "sometimes"],
  [["create", "--limits", "steps=5", "--budget", "nightly"], 2, "leave --limits"],
  [["create", "--budget", "nobody"], 1, "there is no budget nobody"],
  [["create", "--session", "nobody", "--limits", "steps=1"], 1, "there is no session nobody"],
  [["create", "--limits", "steps=5", "--expires", "soon"], 2, "30d"],
  [["create", "--limits", "steps=5", "--store", "memory:"], 2, "memory:"],
  [["create", "--policies", "steps=hard_stop", "--budget", "nightly"], 2, "--policies says nothing"],
  [["rotate"], 2, "the key to rotate is missing"],
  [["rotate", "zzzz"], 1, "there is no key zzzz"],
  [["rotate", "zzzz", "--grace", "later"], 2, "1h"],
  [["revoke", "bursar_0123456789abcdef_secret"], 2, "should stand in no command line"],
  [["list", "--store", `sqlite:${join(folder, "misspelt.db")}`], 1, "there is no store"],
];
const mistaken = inOne(
  MISTAKEN.map(([args]) => ["keys", ...args]),
  env,
);

describe("bursar keys", () => {
  test("leaves word of who has made, rotated and revoked a key", async () => {
    const { key } = json<Made>("create", "--limits", "steps=1");
    json("rotate", key.id);
    json("revoke", key.id);
    await using store = await openStore(env.BURSAR_STORE);
    const told: unknown[] = [];
    for await (const line of store.chain("bursar:server")) {
      const { action_type, data } = parseLine(line);
      if (data.key_id === key.id) told.push([action_type, data.by]);
    }
    const { username } = userInfo();
    expect(told).toEqual(["KeyCreated", "KeyRotated", "KeyRevoked"].map((what) => [what, username]));
  });

  test("makes a key with a budget of its own, and shows its secret once", async () => {
    const { status, stdout } = bursar(["keys", "create", "--label", "alice", "--limits", "cost_usd=10"], env);
    expect(status).toBe(0);
    const [secret = ""] = /bursar_[0-9a-f]{16}_[\w-]{43}/.exec(stdout) ?? [];
    const key = await find(secret);
    expect(key).toMatchObject({ label: "alice", status: "active", expires: null });
    await using store = await openStore(env.BURSAR_STORE);
    const budget = await store.budget(key?.budget ?? "");
    expect(budget).toMatchObject({ scope: "shared", limits: { cost_usd: 10_000_000_000 } });
    // Only what is named is limited.
    expect(Object.keys(budget?.limits ?? {})).toEqual(["cost_usd"]);
    const listed = bursar(["keys"], env).stdout;
    expect(listed).toContain("alice");
    expect(listed + bursar(["keys", "list", "--json"], env).stdout).not.toContain(secret.slice(-43));
    expect(readFileSync(file).includes(secret.slice(-43))).toBe(false);
  });

  test("lists what each budget has used, what is held, and its limits", async () => {
    const { key } = json<Made>("create", "--limits", "cost_usd=10,llm_tokens=5000");
    {
      await using store = await openStore(env.BURSAR_STORE);
      const call = { budget: key.budget, kind: "model" } as const;
      await store.apply([
        { op: "reserve", ...call, call: "a", asked: readAmounts({ cost_usd: 2.5 }) },
        { op: "commit", call: "a", used: readAmounts({ cost_usd: 2.5 }) },
        { op: "reserve", ...call, call: "b", asked: readAmounts({ llm_tokens: 1200 }) },
      ]);
    }
    const { stdout } = bursar(["keys", "list"], env);
    expect(stdout).toMatch(new RegExp(`active +${key.id}.*\\n +llm_tokens +[▒░│]+ +0 \\+ 1,200 of 5,000 tokens\\n`));
    expect(stdout).toMatch(/\n +cost_usd +█+[░│]+ +\$2\.50 of \$10\.00\n/);
    const { keys } = json<{ keys: readonly { id: string }[] }>("list");
    expect(keys.find(({ id }) => id === key.id)).toMatchObject({
      usage: { cost_usd: 2.5 },
      held: { llm_tokens: 1200 },
      dimensions: [
        { dimension: "llm_tokens", held: 1200, limit: 5000 },
        { dimension: "cost_usd", used: 2.5, limit: 10 },
      ],
    });
  });

  test("lists what each budget has saved, where that is something", async () => {
    const { key } = json<Made>("create", "--limits", "cost_usd=10");
    const other = json<Made>("create", "--limits", "cost_usd=10").key;
    {
      await using store = await openStore(env.BURSAR_STORE);
      const data = { budget: key.budget, kind: "cache", saved_usd: 0.75, call_id: "c", model: "m" };
      await store.apply([{ op: "record", budget: key.budget, action: { action_type: "Saved", data } }]);
    }
    const { stdout } = bursar(["keys"], env);
    expect(stdout).toMatch(new RegExp(`${key.id}.*\\n +cost_usd .*\\n +saved \\$0\\.75\\n`));
    expect(stdout.match(/saved/g)).toHaveLength(1);
    const { keys } = json<{ keys: readonly { id: string; saved_usd: number }[] }>("list");
    const savedBy = (id: string) => keys.find((each) => each.id === id)?.saved_usd;
    expect([savedBy(key.id), savedBy(other.id)]).toEqual([0.75, 0]);
  });

  test("makes one for a budget or a session that is there, or for a part of it", async () => {
    {
      await using store = await openStore(env.BURSAR_STORE);
      const grant = { kind: "limits", limits: {} } as const;
      for (const id of ["nightly", "session:team-a"]) {
        await store.apply([{ op: "open", parent: null, opening: { id, scope: "shared", grant } }]);
      }
    }
    expect(json<Made>("create", "--budget", "nightly").key.budget).toBe("nightly");
    expect(json<Made>("create", "--session", "team-a").key.budget).toBe("session:team-a");
    const policies = ["--policies", "steps=approval_required"];
    const { key } = json<Made>("create", "--session", "team-a", "--limits", "steps=5", ...policies);
    await using store = await openStore(env.BURSAR_STORE);
    expect(await store.budget(key.budget)).toMatchObject({
      parent: "session:team-a",
      limits: { steps: 5 },
      policies: { steps: "approval_required" },
    });
  });

  test("rotates, with the old secret taken for a while or not, and revokes", async () => {
    const { key, secret: old } = json<Made>("create", "--limits", "steps=5", "--expires", "30d");
    expect(key.expires).toBeGreaterThan(Date.now());
    const beginning = key.id.slice(0, 12);
    const { secret } = json<Made>("rotate", beginning, "--grace", "1h");
    expect([await find(old), await find(secret)]).toMatchObject([{ id: key.id }, { id: key.id }]);
    const { secret: newest } = json<Made>("rotate", key.id, "--grace", "0s");
    expect([await find(old), await find(secret), await find(newest)]).toMatchObject([null, null, { id: key.id }]);
    const revoked = bursar(["keys", "revoke", beginning], env);
    expect([revoked.status, revoked.stdout]).toEqual([0, `✓ revoked  key ${key.id}\n`]);
    expect(await find(newest)).toBeNull();
    const again = bursar(["keys", "revoke", key.id], env);
    expect([again.status, again.stderr]).toEqual([1, `bursar: key ${key.id} was revoked\n`]);
    expect(bursar(["keys"], env).stdout).toMatch(new RegExp(`revoked +${key.id}`));
  });

  test.each(MISTAKEN)("%j: %d", (args, code, message) => {
    const { status, stderr, stdout } = mistaken(["keys", ...args]);
    expect([status, stdout]).toEqual([code, ""]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("_secret");
  });

  test("each tells how, in 80 columns", () => {
    const asked = [["--help"], ["help", "create"], ["list", "--help"], ["rotate", "-h"], ["revoke", "--help"]];
    for (const { status, stdout } of severally(
      asked.map((args) => ["keys", ...args]),
      env,
    )) {
      expect(status).toBe(0);
      expect(stdout).toMatch(/^Usage: bursar keys [\s\S]*\nExamples:\n/);
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "bursar";
import { openScriptedModel, type Script } from "bursar/testing";
import { afterAll, describe, expect, test } from "vitest";
import { startGateway, until } from "./listening-process.js";
import { bursar, inOne } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-gateway-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const ASK = { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], max_tokens: 5000 };
const TLS = fileURLToPath(new URL("../../../packages/bursar/test/gateway/tls/", import.meta.url));

/** A provider, a store of its own, and what the command has to know of both. */
async function scene(script: Script) {
  const model = await openScriptedModel({ script, models: ["gpt-4o"], apiKey: "key-of-the-provider" });
  const env = {
    BURSAR_STORE: `sqlite:${join(folder, `${stores++}.db`)}`,
    BURSAR_CONFIG: "",
    BURSAR_UPSTREAM_OPENAI_KEY: "key-of-the-provider",
    OPENAI_BASE_URL: model.url,
  };
  return {
    model,
    env,
    key: (...args: readonly string[]) => {
      const { stdout, stderr } = bursar(["keys", "create", "--label", "alice", "--json", ...args], env);
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout) as {
        readonly secret: string;
        readonly key: { readonly id: string; readonly budget: string };
      };
    },
    [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
  };
}

function ask(url: string, secret: string, body: object = ASK): Promise<Response> {
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  return fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
}

const NONE = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", BURSAR_UPSTREAM_OPENAI_KEY: "" };
const MISTAKEN: readonly (readonly [readonly string[], Readonly<Record<string, string>>, number, string])[] = [
  [[], NONE, 2, "set OPENAI_API_KEY or ANTHROPIC_API_KEY"],
  [["--prot", "1"], {}, 2, "did you mean --port?"],
  [["--port", "70000"], {}, 2, "from 0 to 65535"],
  [["--upstream", "https://api.openai.com/v1"], {}, 2, "has no name"],
  [["--upstream", "openai=api.openai.com"], {}, 2, "is no address"],
  [["--upstream", "openai=https://me:secret@api.openai.com/v1"], {}, 2, "holds a login"],
  [["--upstream", "v1=https://api.openai.com/v1"], {}, 2, "which paths begin with"],
  [["--upstream", "a=http://localhost:1", "--upstream", "a=http://localhost:2"], {}, 2, "twice"],
  [["--budget", "cots_usd=5"], {}, 2, "did you mean cost_usd?"],
  [["--policies", "cost_usd=hard_stop"], {}, 2, "nothing without --budget"],
  [["--budget", "cost_usd=5", "--host", "0.0.0.0"], {}, 2, "give clients keys instead"],
  [["--store", "memory:"], {}, 2, "no key can be in it"],
  [["--tls-cert", "cert.pem"], {}, 2, "--tls-key is missing"],
  [["--tls-cert", "none.pem", "--tls-key", "none.pem"], {}, 1, "none.pem cannot be read (ENOENT)"],
  [["--tls-cert", `${TLS}key.pem`, "--tls-key", `${TLS}key.pem`], {}, 2, "no certificate"],
  [["--price", "0.1,0.2"], {}, 2, "names no model"],
  [["--assume", "cheap"], {}, 2, "as 0.15,0.60"],
  [["--wait", "long"], {}, 2, "from 0s to 1h"],
  [["--allow", "provider"], {}, 2, "names no host"],
  [["--allow", "openrouter.ai=pro vider"], {}, 2, "allowed: a list of names"],
  [["--count", "provders"], {}, 2, "did you mean provider?"],
  [["--url", "nowhere"], {}, 2, "an address such as"],
  [[], { OPENAI_BASE_URL: "http://127.0.0.1:8787/v1" }, 2, "would be this gateway itself"],
  [[], { BURSAR_UPSTREAM_OPENAI_KEY: "bursar_0123" }, 2, "for clients"],
];
const USUAL = {
  BURSAR_STORE: `sqlite:${join(folder, "usage.db")}`,
  BURSAR_CONFIG: "",
  BURSAR_UPSTREAM_OPENAI_KEY: "sk-1",
};
const mistaken = inOne(
  MISTAKEN.filter(([, more]) => Object.keys(more).length === 0).map(([args]) => ["gateway", ...args]),
  USUAL,
);

describe("bursar gateway", () => {
  test("serves keys that were made before and while it runs, and tells each request", async () => {
    await using at = await scene(() => HELLO);
    const { secret, key } = at.key("--limits", "llm_tokens=6000", "--policies", "llm_tokens=hard_stop");
    await using gateway = await startGateway(["--json"], at.env);
    expect((await ask(gateway.url, secret)).status).toBe(200);
    const second = at.key("--budget", key.budget);
    expect(
      (await ask(gateway.url, second.secret, { ...ASK, messages: [{ role: "user", content: "x".repeat(90_000) }] }))
        .status,
    ).toBe(402);
    expect((await ask(gateway.url, "sk-wrong")).status).toBe(401);
    await until("all are told", () => gateway.served().length === 3);
    expect(gateway.served()).toMatchObject([
      { event: "served", status: 200, key_id: key.id, label: "alice", model: "gpt-4o", charged: { llm_tokens: 120 } },
      { status: 402, key_id: second.key.id, refused: "budget_exceeded" },
      { status: 401, key_id: null },
    ]);
    const [first = ""] = gateway.stdout().split("\n");
    expect(JSON.parse(first)).toEqual({
      event: "listening",
      url: gateway.url,
      budget: null,
      upstreams: [{ name: "openai", url: at.model.url, has_key: true }],
    });
    expect(await gateway.end("SIGINT")).toBe(0);
    expect(gateway.stdout() + gateway.stderr()).not.toMatch(/key-of-the-provider|sk-wrong/);
    expect(gateway.stdout()).not.toContain(secret);
  });

  test("sends what is allowed for a host, and strips tools that the provider runs where it is told to", async () => {
    await using at = await scene(() => HELLO);
    const { secret } = at.key("--limits", "cost_usd=1");
    const body = { ...ASK, max_tokens: 10, provider: { order: ["a"] }, tools: [{ type: "openrouter:web_search" }] };
    await using strict = await startGateway(["--json"], at.env);
    const refused = await ask(strict.url, secret, body);
    expect(refused.status).toBe(402);
    expect(await refused.text()).toContain("--allow '<host>=provider'");
    const { host } = new URL(at.model.url);
    await using loose = await startGateway(["--json", "--allow", `${host}=provider,models`, "--strip-tools"], at.env);
    expect((await ask(loose.url, secret, body)).status).toBe(200);
    expect(at.model.requests.map((sent) => sent.body)).toMatchObject([{ provider: { order: ["a"] } }]);
    expect(at.model.requests[0]?.body).not.toHaveProperty("tools");
  });

  test("says what clients need, and pays for those without a key where it is told to", async () => {
    await using at = await scene(() => HELLO);
    const args = ["--budget", "cost_usd=1", "--name", "house", "--upstream", `openai=${at.model.url}`];
    await using gateway = await startGateway(args, at.env);
    expect(gateway.stdout()).toContain(`export OPENAI_BASE_URL=${gateway.url}/v1\n`);
    expect(gateway.stdout()).not.toContain("ANTHROPIC");
    const answer = await ask(gateway.url, "none");
    expect([answer.status, answer.headers.get("x-bursar-budget")]).toEqual([200, "house"]);
    await until("it is told", () => /200 {2}gpt-4o .*120 tokens/.test(gateway.stdout()));
    expect(await gateway.end("SIGTERM")).toBe(0);
    await using again = await startGateway(args, at.env);
    const second = await ask(again.url, "none");
    expect(second.headers.get("x-bursar-remaining-cost-usd")).toBe("0.9991");
  });

  test("lets smaller calls pass after one that was too large for the budget of those without a key", async () => {
    await using at = await scene(() => HELLO);
    await using gateway = await startGateway(["--budget", "cost_usd=0.01", "--json"], at.env);
    const words = "word ".repeat(10_000);
    const large = { ...ASK, messages: [{ role: "user", content: words }] };
    const statuses: number[] = [];
    for (const body of [large, { ...ASK, max_tokens: 50 }, large]) {
      statuses.push((await ask(gateway.url, "none", body)).status);
    }
    expect(statuses).toEqual([402, 200, 402]);
  });

  test("drains: a stream that is under way comes to its end, and nothing new is taken", async () => {
    await using at = await scene(() => ({ kind: "text", text: "word ".repeat(100), piece_ms: 3, usage: HELLO.usage }));
    const { secret } = at.key("--limits", "cost_usd=1");
    await using gateway = await startGateway(["--json"], at.env);
    const streamed = await ask(gateway.url, secret, { ...ASK, stream: true });
    const ending = gateway.end("SIGINT");
    expect(await streamed.text()).toMatch(/data: \[DONE\]\n\n$/);
    expect(await ending).toBe(0);
    expect(gateway.served()).toMatchObject([{ status: 200, stream: true, charged: { llm_tokens: 120 } }]);
    await expect(ask(gateway.url, secret)).rejects.toThrow();
  });

  test("killed in the middle of a stream, the next gateway charges what it had reserved", async () => {
    await using at = await scene(() => ({ kind: "half", text: "word ".repeat(100), ending: "hang" }));
    const { secret, key } = at.key("--limits", "cost_usd=1");
    {
      await using gateway = await startGateway(["--json"], at.env);
      const streamed = await ask(gateway.url, secret, { ...ASK, stream: true });
      await streamed.body?.getReader().read();
      expect(await gateway.end("SIGKILL")).toBe("SIGKILL");
    }
    await using store = await openStore(at.env.BURSAR_STORE);
    const budget = async () => {
      const found = await store.budget(key.budget);
      if (found === null) throw new Error("there is no budget");
      return found;
    };
    const { reserved } = await budget();
    expect(reserved.cost_usd).toBeGreaterThan(0);
    await using _next = await startGateway(["--json"], at.env);
    await expect.poll(async () => (await budget()).open, { timeout: 60_000 }).toBe(0);
    const { used } = await budget();
    expect(used).toMatchObject({ steps: 1, llm_output_tokens: 5000, cost_usd: reserved.cost_usd });
  });

  test("asks a person for more where the policy says so, and the same call passes when it was approved", async () => {
    await using at = await scene(() => HELLO);
    const { secret } = at.key("--limits", "steps=1", "--policies", "steps=approval_required");
    await using gateway = await startGateway(["--json"], at.env);
    expect((await ask(gateway.url, secret)).status).toBe(200);
    const refused = await ask(gateway.url, secret);
    expect([refused.status, refused.headers.get("x-bursar-refused")]).toEqual([402, "approval_required"]);
    const { error } = (await refused.json()) as {
      readonly error: { readonly bursar: { readonly approval_id: string } };
    };
    const { approval_id } = error.bursar;
    expect(bursar(["approvals"], at.env).stdout).toContain(approval_id);
    expect(bursar(["approve", approval_id, "--extend", "steps=+5"], at.env)).toMatchObject({ status: 0, stderr: "" });
    expect((await ask(gateway.url, secret)).status).toBe(200);
    expect(at.model.count).toBe(2);
  });

  test("speaks TLS", async () => {
    await using at = await scene(() => HELLO);
    const tls = ["--tls-cert", join(TLS, "cert.pem"), "--tls-key", join(TLS, "key.pem")];
    await using gateway = await startGateway(["--budget", "cost_usd=1", "--host", "localhost", ...tls], at.env);
    expect(gateway.url).toMatch(/^https:/);
    await expect(fetch(gateway.url.replace("https", "http"))).rejects.toThrow();
  });

  test("says so when somebody else listens there", async () => {
    await using at = await scene(() => HELLO);
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port));
    });
    const { status, stderr } = bursar(["gateway", "--port", String(port), "--budget", "steps=1"], at.env);
    other.close();
    expect([status, stderr]).toEqual([
      1,
      `bursar: it cannot listen on 127.0.0.1:${port}: somebody else does; give another --port\n`,
    ]);
  });

  test.each(MISTAKEN)("%j %j: %d", async (args, more, code, message) => {
    const line = ["gateway", ...args];
    const plain = Object.keys(more).length === 0;
    const { status, stderr, stdout } = plain ? mistaken(line) : bursar(line, { ...USUAL, ...more });
    expect(stderr).toContain(message);
    expect([status, stdout]).toEqual([code, ""]);
    expect(stderr).not.toContain("secret");
  });

  test("tells how, in 80 columns", () => {
    const { status, stdout } = bursar(["gateway", "--help"]);
    expect(status).toBe(0);
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });
});

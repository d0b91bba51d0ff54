import { readFileSync } from "node:fs";
import { request } from "node:https";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ListeningProcess, startListening } from "./listening-process.js";
import { openStage, type Stage } from "./runs-stage.js";

const TLS = fileURLToPath(new URL("../../../packages/bursar/test/gateway/tls/", import.meta.url));
const PEM = { cert: `${TLS}cert.pem`, key: `${TLS}key.pem` };
/** Only this machine reaches it; the server need not know that, and takes it for an address like any other. */
const ELSEWHERE = "::ffff:127.0.0.1";

let stage: Stage;
const secrets = new Map<string, string>();
beforeAll(() => {
  stage = openStage();
  for (const role of ["viewer", "operator"]) {
    const { said } = stage.json("tokens", "create", "--name", role, "--role", role);
    secrets.set(role, String(said.secret));
  }
});
afterAll(() => stage?.[Symbol.dispose]());

function serve(...args: readonly string[]): Promise<ListeningProcess> {
  return startListening(["serve", "--most", "0", ...args], stage.env);
}

function shows(role: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { authorization: `Bearer ${secrets.get(role)}` } };
}

/** What somebody gets who asks for this. */
async function status(url: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(url, init);
  await answer.body?.cancel();
  return answer.status;
}

/** Everybody shows a token, wherever he asks, and may do no more than that allows. */
async function expectLogin({ url }: ListeningProcess): Promise<void> {
  for (const path of ["/api/v1/runs", "/api/v1/me", "/api/v1/events", "/metrics", "/mcp"]) {
    expect([path, await status(`${url}${path}`)]).toEqual([path, 401]);
  }
  expect(await status(`${url}/health`)).toBe(200);
  const wrong = { headers: { authorization: "Bearer bursar_token_wrong" } };
  expect(await status(`${url}/api/v1/runs`, wrong)).toBe(401);
  expect(await status(`${url}/api/v1/runs`, shows("viewer"))).toBe(200);
  const post = (role: string) => status(`${url}/api/v1/budgets/none/extend`, { method: "POST", ...shows(role) });
  expect([await post("viewer"), (await post("operator")) !== 403]).toEqual([403, true]);
}

describe("bursar serve, as a process", () => {
  test("demands tokens on an address that is not known as this machine's alone, and says how to get one", async () => {
    await using server = await serve("--host", ELSEWHERE);
    expect(server.url).toMatch(/^http:\/\/\[::ffff:127\.0\.0\.1\]:\d+$/);
    await expectLogin(server);
    expect(server.stdout()).toContain("bursar tokens create");
    expect(server.stdout()).toContain("--tls-cert");
    expect(await server.end("SIGTERM")).toBe(0);
  });

  test.each(["127.0.0.2", "[::1]"])("on %s nobody else is there, and nobody has to log in", async (host) => {
    await using server = await serve("--host", host);
    expect(server.url.startsWith(`http://${host}:`)).toBe(true);
    expect(await (await fetch(`${server.url}/api/v1/me`)).json()).toMatchObject({ role: "admin" });
    expect(server.stdout()).not.toContain("tokens create");
  });

  test("demands tokens with --login, and where people find it elsewhere", async () => {
    await using server = await serve("--login", "--json");
    await expectLogin(server);
    expect(JSON.parse(server.stdout())).toMatchObject({ event: "listening", login: true });
    await using behind = await serve("--host", "127.0.0.3", "--json", "--url", "https://bursar.example");
    expect(JSON.parse(behind.stdout())).toMatchObject({ url: "https://bursar.example", login: true });
  });

  test("speaks TLS, and gives cookies that no other host can set", async () => {
    await using server = await serve("--host", "localhost", "--login", "--tls-cert", PEM.cert, "--tls-key", PEM.key);
    expect(server.url).toMatch(/^https:\/\/localhost:\d+$/);
    await expect(fetch(server.url.replace("https", "http"))).rejects.toThrow();
    expect((await secure(`${server.url}/api/v1/runs`)).status).toBe(401);
    const { status, cookies } = await secure(`${server.url}/api/v1/login`, { token: secrets.get("viewer") });
    expect([status, cookies]).toEqual([200, [expect.stringMatching(/^__Host-bursar_login=\S+; .*HttpOnly.*; Secure/)]]);
    const cookie = String(cookies[0]).split(";")[0] ?? "";
    expect((await secure(`${server.url}/api/v1/runs`, undefined, { cookie })).status).toBe(200);
  });
});

interface Answer {
  readonly status: number | undefined;
  readonly cookies: readonly string[];
}

/** Asks by HTTPS, and trusts our certificate alone. */
function secure(url: string, body?: object, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const method = body === undefined ? "GET" : "POST";
  const headers = { "content-type": "application/json", ...more };
  return new Promise((resolve, reject) => {
    request(url, { ca: readFileSync(PEM.cert), method, headers }, (answer) =>
      resolve({ status: answer.resume().statusCode, cookies: answer.headers["set-cookie"] ?? [] }),
    )
      .on("error", reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

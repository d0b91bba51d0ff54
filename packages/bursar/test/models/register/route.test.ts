import { describe, expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { Providers } from "../../../src/models/register/providers.js";
import { isGoverned } from "../../../src/models/register/route.js";

const providers = new Providers({ OPENAI_BASE_URL: "http://127.0.0.1:8080/v1", ANTHROPIC_BASE_URL: "no address" });

test("hosts of providers are known however they are spelled, and no others", () => {
  const hosts = [
    "api.openai.com",
    "API.OpenAI.com",
    "api.openai.com.",
    "api.openai.com:443",
    "eu.api.openai.com",
    "openai.com",
    "acme.openai.azure.us",
    "acme.cognitiveservices.azure.cn",
    "acme.openai.azure.com",
    "bedrock-runtime.eu-west-1.amazonaws.com",
    "us-central1-aiplatform.googleapis.com",
    "127.0.0.1:8080",
    "api.x.ai",
  ];
  expect(hosts.filter((host) => !providers.has(host))).toEqual([]);
  const others = [
    "notopenai.com",
    "openai.com.evil.test",
    "127.0.0.1:8081",
    "box.ai",
    "s3.eu-west-1.amazonaws.com",
    "",
  ];
  expect(others.filter((host) => providers.has(host))).toEqual([]);
});

test("a host that is named without a port is a provider at every port, that of an address at its own", () => {
  const named = new Providers({
    BURSAR_HOSTS: "LLM.internal, .models.example,[::1]:8080",
    OPENAI_BASE_URL: "http://127.0.0.1/v1",
    ANTHROPIC_BASE_URL: "https://claude.example",
  });
  const hosts = ["llm.internal", "llm.internal:8080", "eu.models.example:99", "models.example", "[::1]:8080"];
  expect([...hosts, "127.0.0.1", "127.0.0.1:80", "claude.example"].filter((host) => !named.has(host))).toEqual([]);
  expect(["127.0.0.1:8080", "my-llm.internal", "xmodels.example", "[::1]"].filter((host) => named.has(host))).toEqual(
    [],
  );
  const handedOn = new Providers({ BURSAR_HOSTS: named.list });
  expect([handedOn.has("127.0.0.1"), handedOn.has("127.0.0.1:8080")]).toEqual([true, false]);
});

test.each([
  "http://llm.internal:8080",
  "llm.internal/v1",
  "*.example.com",
  "a b",
  "llm.internal:port",
  "localhost;evil",
])("what is no host is refused, because nothing would ever be at it: %s", (hosts) => {
  expect(() => new Providers({ BURSAR_HOSTS: hosts })).toThrow("BURSAR_HOSTS has");
});

const asked = { method: "POST", body: JSON.stringify({ model: "m", messages: [] }) };
const said = { method: "POST", body: JSON.stringify({ content: "a model citizen" }) };

test.each([
  ["https://api.openai.com/v1/images/generations", said, true],
  ["https://api.openai.com/v1/models", {}, true],
  ["https://api.openai.com/v1/traces/ingest", said, false],
  ["http://elsewhere.test/v1/chat/completions", said, true],
  ["http://elsewhere.test/v1//Chat%2fCompletions", said, true],
  ["http://elsewhere.test/v1/messages", asked, true],
  ["http://elsewhere.test/v1/messages", { ...asked, body: Buffer.from(asked.body) }, true],
  ["http://elsewhere.test/channels/7/messages", said, false],
  ["http://elsewhere.test/channels/7/messages", { method: "POST", body: '{"model"' }, false],
  ["http://elsewhere.test/channels/7/messages", { method: "POST", body: new FormData() }, false],
  ["http://elsewhere.test/v1/responses", { method: "GET" }, false],
  ["http://elsewhere.test/anything", asked, false],
  ["data:text/plain,chat/completions", said, false],
  ["/relative", said, false],
] as const)("%s %j is governed: %s", (url, init, governed) => {
  expect(isGoverned(url, init, providers)).toBe(governed);
});

async function* pieces(text: string) {
  for (const piece of text.match(/.{1,7}/g) ?? []) yield Buffer.from(piece);
}

/** Bodies that tell what they are only while they are read. */
const LATER: Readonly<Record<string, (text: string) => unknown>> = {
  "a blob": (text) => new Blob([text]),
  "a stream": (text) => new Blob([text]).stream(),
  "an iterable": pieces,
};

describe.each(Object.keys(LATER))("%s", (form) => {
  const sent = (text: string) => {
    const body = (LATER[form] as (text: string) => unknown)(text) as RequestInit["body"];
    return { method: "POST", body: body as NonNullable<typeof body>, duplex: "half" } as const;
  };

  test.each([
    [asked.body, true],
    [said.body, false],
  ])("with %s to a server that nobody knows is looked at without being taken: %s", async (text, governed) => {
    const looked = isGoverned("http://elsewhere.test/v1/messages", sent(text), providers);
    if (typeof looked === "boolean") throw new Error("nobody can know yet");
    expect(await looked.governed).toBe(governed);
    expect(await looked.request.text()).toBe(text);
  });
});

test("a body that is too long to be looked at is governed, and refused there", async () => {
  const body = new Blob([Buffer.alloc(64 * 1024 * 1024 + 1, 32)]).stream();
  const looked = isGoverned("http://elsewhere.test/v1/messages", { method: "POST", body, duplex: "half" }, providers);
  if (typeof looked === "boolean") throw new Error("nobody can know yet");
  expect(await looked.governed).toBe(true);
  const { status } = await withBudget({ steps: 1 }, () => governedFetch()(looked.request));
  expect(status).toBe(400);
});

test("a request object is looked at without being taken", async () => {
  const request = new Request("http://elsewhere.test/v1/messages", asked);
  const looked = isGoverned(request, undefined, providers);
  expect(typeof looked === "boolean" ? looked : await looked.governed).toBe(true);
  expect(await request.json()).toEqual({ model: "m", messages: [] });
});

// A program that tries every way of Node to a provider that is not the global `fetch`.
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { createRequire } from "node:module";
import { Client, Pool, ProxyAgent, fetch as undiciFetch, request as undiciRequest } from "undici";

const [provider, elsewhere, elsewhereHttp2] = process.argv.slice(2);
const { host, hostname, port } = new URL(provider);
const other = new URL(elsewhere);
const path = "/v1/images/generations";
const body = JSON.stringify({ model: "m" });
const method = "POST";
const named = { hostname: other.hostname, port: other.port, path, method };
const { ClientRequest } = createRequire(import.meta.url)("_http_client");

function sent(make) {
  return new Promise((resolve) => {
    try {
      const request = make((response) => {
        response.resume();
        resolve({ status: response.statusCode });
      });
      const errors = [];
      request.on("error", (error) => errors.push(error.message));
      // One error for each request: what Node or another one adds shows beside it.
      request.on("close", () => resolve({ error: errors.join(", then ") }));
      request.on("upgrade", () => resolve({ status: 101 }));
      request.on("connect", () => resolve({ status: 200 }));
      request.end(request.method === "POST" ? body : undefined);
    } catch (error) {
      resolve({ error: error.message });
    }
  });
}

function overHttp2(authority, headers) {
  return new Promise((resolve) => {
    const session = http2.connect(authority);
    const done = (outcome) => {
      session.destroy();
      resolve(outcome);
    };
    session.on("error", (error) => done({ error: error.message }));
    try {
      const stream = session.request(headers);
      stream.on("response", (answer) => done({ status: answer[":status"] }));
      stream.on("error", (error) => done({ error: error.message }));
      stream.end();
    } catch {
      // Clients such as gRPC's open another connection at once for a request that throws, again and again.
      done({ error: "thrown" });
    }
  });
}

async function told(send) {
  try {
    const { status, statusCode = status } = await send();
    return { status: statusCode };
  } catch (error) {
    return { error: error.cause?.message ?? error.message };
  }
}

const ways = {
  "http.request": () => sent((done) => http.request(provider + path, { method }, done)),
  "http.request, in upper case": () => sent((done) => http.request({ hostname, port, path, method: "post" }, done)),
  "an empty hostname": () => sent((done) => http.request({ hostname: "", host: hostname, port, path, method }, done)),
  "a URL and options that win": () => sent((done) => http.request(elsewhere, { hostname, port, path, method }, done)),
  ClientRequest: () => sent((done) => new http.ClientRequest({ hostname, port, path, method }, done)),
  "ClientRequest of a URL": () => sent((done) => new http.ClientRequest(provider + path, { method }, done)),
  "ClientRequest from within": () => sent((done) => new ClientRequest({ hostname, port, path, method }, done)),
  "headers as a list": () =>
    sent((done) =>
      http.request({ hostname, port, path, method, headers: ["Host", host, "Content-Length", "15"] }, done),
    ),
  "an agent": () => sent((done) => http.request({ hostname, port, path, method, agent: new http.Agent() }, done)),
  "an agent without a free connection": () => {
    const agent = new http.Agent({ maxSockets: 1 });
    http.get({ hostname: other.hostname, port: other.port, path: "/hang", agent }).on("error", () => {});
    return sent((done) => http.request({ ...named, headers: { host: "api.openai.com" }, agent }, done));
  },
  "no agent": () => sent((done) => http.request({ hostname, port, path, method, agent: false }, done)),
  "no Host": () => sent((done) => http.request({ hostname, port, path, method, setHost: false }, done)),
  "another Host": () =>
    sent((done) => http.request({ hostname, port, path, method, headers: { host: "a.test" } }, done)),
  "an address and a known Host": () =>
    sent((done) => http.request({ ...named, headers: { Host: "API.OpenAI.com." } }, done)),
  "a known Host in a list": () =>
    sent((done) => http.request({ ...named, headers: [["host", "api.anthropic.com"]] }, done)),
  "a proxy": () => sent((done) => http.request({ ...named, path: provider + path }, done)),
  "a proxy to a known host": () =>
    sent((done) => http.request({ ...named, path: "http://api.openai.com/v1/images" }, done)),
  "a tunnel": () => sent((done) => http.request({ ...named, path: "api.openai.com:443", method: "CONNECT" }, done)),
  "an upgrade": () =>
    sent((done) => http.get({ hostname, port, path, headers: { connection: "upgrade", upgrade: "websocket" } }, done)),
  "a path that only models have": () => sent((done) => http.request({ ...named, path: "/v1/Chat//completions" }, done)),
  https: () => sent((done) => https.request({ hostname, port, path, method }, done)),
  http2: () => overHttp2(provider, { ":method": method, ":path": path }),
  "http2 of an object": () =>
    overHttp2({ protocol: "http:", host: hostname, port }, { ":method": method, ":path": path }),
  "http2 to a known host": () =>
    overHttp2(elsewhereHttp2, { ":method": method, ":path": path, ":authority": "api.openai.com" }),
  "http2 with a known Host": () =>
    overHttp2(elsewhereHttp2, { ":method": method, ":path": path, Host: "api.openai.com" }),
  "http2 to a path that only models have": () =>
    overHttp2(elsewhereHttp2, { ":method": method, ":path": "/v1/chat/completions" }),
  "a redirect": () =>
    told(() => fetch(`${elsewhere}/redirect?to=${encodeURIComponent(provider + path)}`, { method, body })),
  "a redirect of a request": () =>
    told(() => fetch(new Request(`${elsewhere}/redirect?to=${encodeURIComponent(provider + path)}`, { method, body }))),
  "undici's fetch": () => told(() => undiciFetch(provider + path, { method, body })),
  "undici's request": () => told(() => undiciRequest(provider + path, { method, body })),
  "undici's client": () => told(() => new Client(provider).request({ path, method, body })),
  "undici's pool": () => told(() => new Pool(provider).request({ path, method, body })),
  "undici through a proxy": () =>
    told(() =>
      undiciFetch(`http://api.openai.com${path}`, {
        method,
        body,
        dispatcher: new ProxyAgent({ uri: elsewhere, proxyTunnel: false }),
      }),
    ),
  "undici to a proxy": () =>
    told(() => new Client(elsewhere).request({ path: `http://api.openai.com${path}`, method, body })),
  "undici with a known Host": () =>
    told(() => new Client(elsewhere).request({ path, method, body, headers: { host: "api.openai.com" } })),
};

const free = {
  "a look": () => sent((done) => http.get(`${provider}/v1/models`, done)),
  "a look over http2": () => overHttp2(elsewhereHttp2, { ":path": "/v1/models", ":authority": "api.openai.com" }),
  "http2 elsewhere": () => overHttp2(elsewhereHttp2, { ":method": method, ":path": path }),
  "http elsewhere": () => sent((done) => http.request(named, done)),
  "undici elsewhere": () => told(() => undiciFetch(elsewhere + path, { method, body })),
  "fetch elsewhere": () => told(() => fetch(elsewhere + path, { method, body })),
  "a redirect elsewhere": () =>
    told(() => fetch(`${elsewhere}/redirect?to=${encodeURIComponent(elsewhere)}`, { method, body })),
};

const outcomes = [];
for (const [name, way] of [...Object.entries(ways), ...Object.entries(free)])
  outcomes.push({ value: name, ...(await way()) });
console.log(JSON.stringify(outcomes));
process.exit(0);

// A program that sends what has nothing to do with models, and what nobody could meter.
import { request } from "node:http";
import { connect } from "node:http2";

const [room, provider] = process.argv.slice(2);

async function post(url, body) {
  const response = await fetch(url, { method: "POST", body, headers: { "x-test": "kept" } });
  return { status: response.status, text: await response.text() };
}

function plain(url) {
  return new Promise((resolve) => {
    try {
      request(url, { method: "POST" }, ({ statusCode }) => resolve({ status: statusCode }))
        .on("error", (error) => resolve({ error: error.message }))
        .end();
    } catch (error) {
      resolve({ error: error.message });
    }
  });
}

function overHttp2(url) {
  return new Promise((resolve) => {
    const session = connect(url).on("error", () => {});
    session
      .request({ ":method": "POST", ":path": "/v1/chat/completions" })
      .on("error", ({ message }) => resolve({ error: message }))
      .on("response", (headers) => resolve({ status: headers[":status"] }))
      .on("close", () => session.destroy());
  });
}

function tried(open) {
  try {
    open();
    return { value: "opened" };
  } catch (error) {
    return { error: error.message };
  }
}

console.log(
  JSON.stringify([
    await post(`${room}/channels/7/messages`, JSON.stringify({ content: "hi" })),
    await post(`${room}/v1/embeddings`, "no JSON"),
    await plain(`${room}/anything`),
    await plain(`${provider}/v1/chat/completions`),
    await overHttp2(provider),
    // Node has web sockets of its own from version 22 on.
    typeof WebSocket === "undefined"
      ? { error: "is not metered" }
      : tried(() => new WebSocket(`${provider.replace("http", "ws")}/v1/realtime`)),
  ]),
);

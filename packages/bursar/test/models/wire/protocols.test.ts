import { describe, expect, test } from "vitest";
import { protocolFor } from "../../../src/models/wire/protocols.js";

describe("the protocol of a path", () => {
  test.each([
    ["/v1/chat/completions", "openai-chat"],
    ["/chat/completions", "openai-chat"],
    ["/openai/deployments/gpt-4o/chat/completions", "openai-chat"],
    ["/api/v1/chat/completions/", "openai-chat"],
    ["//v1//chat//completions", "openai-chat"],
    ["/v1/Chat/Completions", "openai-chat"],
    ["/v1/%63hat%2Fcompletions", "openai-chat"],
    ["/v1/%ff/%E0%A4/%63hat/completions", "openai-chat"],
    ["/v1/responses", "openai-responses"],
    ["/v1/embeddings", "openai-embeddings"],
    ["/v1/messages", "anthropic-messages"],
    ["/messages", "anthropic-messages"],
  ])("%s speaks %s", (path, name) => {
    expect(protocolFor("POST", path)?.name).toBe(name);
    expect(protocolFor("post", path)?.name).toBe(name);
    expect(protocolFor("GET", path)).toBeNull();
  });

  test.each([
    "/v1/completions",
    "/v1/chat",
    "/v1/responses/abc/cancel",
    "/v1/responses/input_tokens",
    "/v1/responses/abc",
    "/v1/messages/batches",
    "/v1/messages/count_tokens",
    "/v1/threads/thread_1/messages",
    "/v1/chat/completions/x",
    "/",
    "",
    "/v1/models",
    "/v1/%E0%A4%A",
    "/v1/xmessages",
    "/completions/chat",
  ])("%s speaks none", (path) => {
    expect(protocolFor("POST", path)).toBeNull();
  });
});

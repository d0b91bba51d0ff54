import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { openScriptedModel, type Script, type ScriptedModelOptions } from "../../../src/testing/scripted-model.js";

/** How a provider restates what a scripted model has answered. */
export interface Restated {
  /** Makes another text of an answer, or of the events of one. */
  readonly text?: (text: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
}

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };

/** A provider that answers as a scripted model does, but for what it says of the model, the tier and the cost. */
export async function openRestating(restated: Restated, options: Partial<ScriptedModelOptions> = {}) {
  const script: Script = () => ({ kind: "text", text: "Yes.", usage: USAGE });
  const model = await openScriptedModel({ script, models: ["gpt-4o-mini", "claude-haiku-4-5", "small"], ...options });
  let now = restated;
  const server = createServer(async (incoming, response) => {
    const { method = "GET", url = "/", headers } = incoming;
    const sent = await text(incoming);
    const answer = await fetch(`${model.origin}${url}`, {
      method,
      headers: {
        "content-type": headers["content-type"] ?? "application/json",
        "anthropic-version": "2023-06-01",
        ...(headers.authorization !== undefined && { authorization: headers.authorization }),
        ...(typeof headers["x-api-key"] === "string" && { "x-api-key": headers["x-api-key"] }),
      },
      ...(sent !== "" && { body: sent }),
    });
    const said = await answer.text();
    response.writeHead(answer.status, {
      "content-type": answer.headers.get("content-type") ?? "application/json",
      ...now.headers,
    });
    response.end(now.text?.(said) ?? said);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    model,
    origin,
    url: `${origin}/v1`,
    restate: (next: Restated) => {
      now = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await model[Symbol.asyncDispose]();
    },
  };
}

export type Restating = Awaited<ReturnType<typeof openRestating>>;

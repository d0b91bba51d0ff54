import { AzureChatOpenAI } from "@langchain/openai";
import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { budget } from "../../../src/models/langchain/budget.js";

/** A call of LangChain's model for Azure, which names a model of its own choice beside the deployment. */
async function called(deployment: string, options: Parameters<typeof budget>[0], isWired: boolean) {
  const sent: string[] = [];
  const answer = { choices: [{ message: { role: "assistant", content: "Yes." } }], usage: {} };
  const answering: typeof fetch = async (address) => {
    sent.push(String(address));
    return new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
  };
  const governed = budget({ ...options, fetch: answering });
  const model = new AzureChatOpenAI({
    azureOpenAIApiKey: "k",
    azureOpenAIApiInstanceName: "acme",
    azureOpenAIApiVersion: "2024-06-01",
    azureOpenAIApiDeploymentName: deployment,
    model: "gpt-4o-mini",
    maxTokens: 10,
    maxRetries: 0,
    callbacks: governed.callbacks,
    configuration: { fetch: isWired ? governed.fetch : answering },
  });
  const error = await withBudget({ cost_usd: 0.01 }, () => model.invoke("Hello?")).then(
    () => null,
    (reason: unknown) => (reason as Error).message,
  );
  return { sent: sent.length, error };
}

test.each([true, false])(
  "a deployment is priced by what it runs, whatever model is named (with a wire: %s)",
  async (wired) => {
    expect(await called("gpt-4o-mini", {}, wired)).toEqual({ sent: 1, error: null });
    expect(await called("o1-pro", {}, wired)).toEqual({ sent: 0, error: expect.stringContaining("cost_usd") });
    expect((await called("chat-prod", {}, wired)).error).toContain("--deployment chat-prod=");
    const cheap = { deployments: { "chat-prod": "gpt-4o-mini" } };
    expect(await called("chat-prod", cheap, wired)).toEqual({ sent: 1, error: null });
    const dear = { deployments: { "gpt-4o-mini": "o1-pro" } };
    expect(await called("gpt-4o-mini", dear, wired)).toEqual({ sent: 0, error: expect.stringContaining("cost_usd") });
  },
);

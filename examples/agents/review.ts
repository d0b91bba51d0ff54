// An agent in TypeScript, as trusted code. It drafts, has its draft judged, and hands over what it has when the budget ends:
//   bursar run review.ts --model-url http://localhost:8080/v1 --model small --price 0.15,0.60 \
//     --input '{"subject":"tea"}' --budget llm_tokens=20000 --wrap-up llm_tokens=2000
import { type AgentContext, defineAgent, RunError } from "bursar";

interface Input {
  readonly subject: string;
}

interface Answer {
  readonly text: string;
}

const ROUNDS = 3;

/** Everything it wants from the world goes through `ctx`, so a run that was interrupted goes on with the answers it had. */
export const review = defineAgent("review", async (ctx, { subject }: Input) => {
  let draft = await ask(ctx, `Write a paragraph about ${subject}.`);
  let rounds = 0;
  try {
    for (; rounds < ROUNDS; rounds++) {
      const opinion = await ask(ctx, `Say OK if this is good, else what is missing: ${draft}`);
      if (opinion.startsWith("OK")) break;
      draft = await ask(ctx, `Write it again. ${opinion}\n\n${draft}`);
    }
  } catch (error) {
    if (!(error instanceof RunError) || error.data.dimension === undefined) throw error;
    // A limit: what was set aside for the final answer can still be used.
    const { text } = await ctx.final.model<Answer>(request(`Make this a single sentence: ${draft}`));
    return { draft: text, rounds, complete: false };
  }
  return { draft, rounds, complete: true };
});

async function ask(ctx: AgentContext, prompt: string): Promise<string> {
  const { text } = await ctx.model<Answer>(request(prompt));
  return text;
}

function request(content: string) {
  return { messages: [{ role: "user", content }], max_tokens: 300 };
}

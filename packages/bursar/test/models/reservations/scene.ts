import { type OpenBudget, openBudget } from "../../../src/ambient/open-budget.js";
import type { BudgetLimits } from "../../../src/core/input.js";
import { type Deferred, deferred } from "../../../src/runtime/deferred.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { openScene, type Scene, type SceneOptions } from "../fetch/scene.js";

/** A provider whose answers have the length that the question says, and that lets no answer go before it is told to. */
export interface LongScene extends Scene {
  readonly store: MemoryStore;
  readonly budget: (limits: BudgetLimits, name?: string) => Promise<OpenBudget>;
  /** From now on answers wait for `release`. */
  hold(): void;
  release(): void;
  /** The limits of output that requests came with. */
  limits(): readonly (number | null)[];
}

export const MODEL = "gpt-4-scripted";

/** An answer with so many tokens, unless the request allows fewer. */
export function answerOf(text: string, max_tokens: number | null) {
  const completion_tokens = Math.min(Number(text) || 300, max_tokens ?? 4096);
  return { kind: "text", text: "Yes.", usage: { prompt_tokens: 10, completion_tokens } } as const;
}

export async function openLong(options: SceneOptions = {}): Promise<LongScene> {
  let gate: Deferred<void> | null = null;
  const scene = await openScene(async ({ text, max_tokens }) => {
    await gate?.promise;
    return answerOf(text, max_tokens);
  }, options);
  const store = new MemoryStore();
  return {
    ...scene,
    store,
    budget: (limits, name) => openBudget(limits, { store, parent: null, ...(name !== undefined && { name }) }),
    hold: () => {
      gate = deferred();
    },
    release: () => {
      gate?.resolve();
      gate = null;
    },
    limits: () => scene.model.requests.map(({ max_tokens }) => max_tokens),
  };
}

/** One question, whose answer may have 4,096 tokens and has as many as it says. */
export function ask(at: LongScene, budget: OpenBudget, tokens = 300, headers: Record<string, string> = {}) {
  const messages = [{ role: "user" as const, content: String(tokens) }];
  return budget.run(() => at.openai.chat.completions.create({ model: MODEL, messages, max_tokens: 4096 }, { headers }));
}

/** Makes the site known, in a budget with plenty of everything. */
export async function warm(at: LongScene, count = 20, headers: Record<string, string> = {}): Promise<void> {
  await using budget = await at.budget({ llm_tokens: 100_000_000 });
  const body = JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "300" }], max_tokens: 4096 });
  const init = { method: "POST", body, headers: { "content-type": "application/json", ...headers } };
  for (let made = 0; made < count; made++) {
    const response = await budget.run(() => at.fetch(`${at.model.url}/chat/completions`, init));
    await response.text();
  }
}

/** What the chain of a budget says happened, by type. */
export async function actions({ store }: LongScene, budget: OpenBudget, type: string) {
  const found: Record<string, unknown>[] = [];
  for await (const line of store.chain(budget.id)) {
    const { action_type, data } = JSON.parse(line);
    if (action_type === type) found.push(data);
  }
  return found;
}

import type { BudgetAmounts } from "../../core/input.js";
import { NOTHING_SENT } from "../meter/nothing-used.js";
import type { Given } from "../reuse/in-flight.js";
import { isWhole } from "../reuse/is-whole.js";
import type { Question, Reuse } from "../reuse/reuse.js";
import { parsedObject } from "../wire/json-object.js";
import { readAnswer } from "./chat-answer.js";
import type { CountedAnswer } from "./chat-site.js";

/** An answer, and the text that it was read from. */
export interface TextAnswer extends CountedAnswer {
  readonly text: string;
}

/** A question to a chat model. */
interface ChatQuestion {
  /** As it was asked, before it was held to what is left. */
  readonly question: Question;
  /** What no answer may show. */
  readonly secret: string | null;
  /** Whether its answer is held to less than it asks for. */
  readonly isHeld: boolean;
}

/** Asks a chat model, or takes what it is being asked, or was, by somebody with the very same question. */
export async function reusedChat(
  reuse: Reuse,
  { question, secret, isHeld }: ChatQuestion,
  signal: AbortSignal,
  ask: () => Promise<TextAnswer>,
): Promise<CountedAnswer> {
  const outcome = await reuse.answer(question, signal, async () => {
    const asked = await ask();
    return { asked, given: givenBy(asked, isHeld) };
  });
  if ("asked" in outcome) return outcome.asked;
  const { kind, answer, cost_usd } = outcome;
  const value = readAnswer(answer.body.toString("utf8"), secret);
  // Nothing was sent, so that nothing is learned of how long such answers are.
  return { answer: { value, usage: NOTHING_SENT, reused: { kind, saved_usd: cost_usd } }, counts: null };
}

/** What others may have of it: nothing where it does not say what it used, or was cut short for want of money. */
function givenBy({ answer, counts, text }: TextAnswer, isHeld: boolean): Given | null {
  const parsed = parsedObject(text);
  if (counts === null || parsed === null || !isWhole("openai-chat", parsed, isHeld)) return null;
  const { cost_usd = 0 } = answer.usage as BudgetAmounts;
  return { answer: { status: 200, headers: {}, body: Buffer.from(text) }, cost_usd: cost_usd ?? 0 };
}

import fc from "fast-check";
import type { Json, JsonObject } from "../../../src/core/chain/canonical.js";
import { type Appended, appendLink, emptyHead, type Head, type LinkDraft } from "../../../src/core/chain/link.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";

/** Characters at which escaping, ordering or encoding changes. */
const oddCharacters = [...'ab"\\/#!~ \n\r\t\b\f\u0000\u001f\u007f\u0080é€\u2028\ud7ff\ue000\ufb33\ufffd\uffff😀𐀀'];

const oddText: fc.Arbitrary<string> = fc.string({ unit: fc.constantFrom(...oddCharacters), maxLength: 8 });

export const text: fc.Arbitrary<string> = fc.oneof(oddText, fc.string({ unit: "binary", maxLength: 20 }));

/** Any JSON value; its keys share prefixes often, so that their order is put to the test. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, 0, -0, 1e21, 1e-7, 0.000001, 5e-324, Number.MAX_SAFE_INTEGER),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.dictionary(fc.oneof(oddText, fc.stringMatching(/^[a-c1-3_]{0,4}$/)), tie("value"), { maxKeys: 6 }),
})).value;

const jsonObject: fc.Arbitrary<JsonObject> = fc.dictionary(text, json, { maxKeys: 4 });

/** Any chain id: quotes and backslashes are allowed in it, which is what makes it hard. */
export const chainId: fc.Arbitrary<string> = fc
  .oneof(fc.stringMatching(/^[a-z0-9:/_-]{1,12}$/), text)
  .map((id) => id.replace(/[#\p{Cc}]/gu, "x"))
  .filter((id) => id !== "" && id.length <= 200);

interface LinkPlan {
  action_type: string;
  at: number;
  data: JsonObject;
  event: string | undefined;
  cause: number;
}

const name = fc.oneof(fc.constantFrom("BudgetConsumptionRecorded", "StepStarted"), text).filter((it) => it !== "");

const linkPlan: fc.Arbitrary<LinkPlan> = fc.record({
  action_type: name,
  at: fc.oneof(fc.constantFrom(0, 1767225600000, Number.MAX_SAFE_INTEGER), fc.maxSafeNat()),
  data: jsonObject,
  event: fc.option(name, { nil: undefined }),
  cause: fc.nat({ max: 20 }),
});

export interface Chain {
  readonly lines: readonly string[];
  readonly heads: readonly Head[];
  readonly head: Head;
}

/** Chains of 1 to 6 links of any content, with causes that are null, earlier links, and links of other chains. */
export const chain: fc.Arbitrary<Chain> = fc
  .tuple(chainId, chainId, fc.array(linkPlan, { minLength: 1, maxLength: 6 }))
  .map(([id, other, plans]) => {
    const made = appendAll(emptyHead(id), (seq) => draftOf(plans[seq], id, other, seq), plans.length);
    return chainOf(made);
  });

function draftOf(plan: LinkPlan | undefined, chain: string, other: string, seq: number): LinkDraft {
  if (plan === undefined) throw new Error("there is a plan for every link");
  const { action_type, at, data, event } = plan;
  const own = plan.cause < seq ? `${chain}#${plan.cause}` : null;
  const cause = plan.cause > 15 && other !== chain ? `${other}#${plan.cause * 1000}` : own;
  return { action_type, at, cause, data, event };
}

export function appendAll(start: Head, draft: (seq: number) => LinkDraft, count: number): Appended[] {
  const made: Appended[] = [];
  let head = start;
  for (let index = 0; index < count; index++) {
    const appended = appendLink(head, draft(head.seq + 1), sha256Hex);
    made.push(appended);
    head = appended.head;
  }
  return made;
}

export function chainOf(made: readonly Appended[]): Chain {
  const last = made.at(-1);
  if (last === undefined) throw new Error("a chain for a test has at least one link");
  return { lines: made.map((it) => it.line), heads: made.map((it) => it.head), head: last.head };
}

/** A plain chain for tests that are not about its content. */
export function plainChain(links: number, id = "run-7"): Chain {
  const draft = (seq: number): LinkDraft => ({
    action_type: "BudgetConsumptionRecorded",
    at: 1767225600000 + seq,
    cause: seq === 0 ? null : `${id}#${seq - 1}`,
    data: { dimension: "cost_usd", cost_usd: 0.0125 * seq, note: "naïve 😀" },
    event: "Consumption",
  });
  return chainOf(appendAll(emptyHead(id), draft, links));
}

import type { JsonObject } from "../../core/chain/canonical.js";
import { BursarError } from "../../core/errors.js";
import type { BudgetAmounts } from "../../core/input.js";
import { offAbort, onAbort } from "../../runtime/abort-listeners.js";
import { type Deferred, deferred } from "../../runtime/deferred.js";
import { isFree, isUnsent } from "../meter/answer-status.js";
import type { Held } from "../meter/meter.js";
import { NOTHING_SENT, NOTHING_USED } from "../meter/nothing-used.js";
import { claimsIn, claimsInHeaders, joinedClaims, sharedClaims } from "../wire/answer-claims.js";
import { objectOf, parsedObject } from "../wire/json-object.js";
import { OPENAI_EMBEDDINGS } from "../wire/openai-embeddings.js";
import { type EmbeddingInputs, joinedBody, splitAnswer, weightOf } from "./embedding-body.js";
import { shareOut } from "./share-out.js";
import type { WholeAnswer } from "./whole-answer.js";

/** Sends a body and reads the whole of the answer. */
export type SendWhole = (text: string, signal: AbortSignal) => Promise<WholeAnswer>;

/** Somebody who wants something embedded, with what is held for it. */
export interface Joining {
  readonly held: Pick<Held, "signal" | "granted" | "usage" | "claim">;
  readonly inputs: EmbeddingInputs;
  /** How many bytes his own request would have. */
  readonly egress_bytes: number;
  /** Where it goes; null where that is not known. */
  readonly url: string | null;
  readonly send: SendWhole;
  /** Told what it used if he has left before that was known. */
  readonly late: (usage: BudgetAmounts) => void;
}

/** What becomes of one who has joined. */
export type Joined =
  /** Nobody else came: he sends his own request. */
  | { readonly kind: "solo" }
  /** The provider takes the request of all of them for a wrong one. It may be another's fault, so each tries by himself. */
  | { readonly kind: "alone"; readonly egress_bytes: number }
  /** `usage` is missing where nobody knows it. `first` is the one whose request it was. */
  | { readonly kind: "answer"; readonly answer: WholeAnswer; readonly usage?: BudgetAmounts; readonly first: boolean }
  /** Something went wrong, and what that costs is known. */
  | { readonly kind: "failed"; readonly error: unknown; readonly usage: BudgetAmounts };

/** The provider says with these that something is wrong with what was sent. */
const WRONG: ReadonlySet<number> = new Set([400, 413, 422]);

class Member {
  readonly joining: Joining;
  readonly outcome: Deferred<Joined> = deferred();
  left = false;

  constructor(joining: Joining) {
    this.joining = joining;
  }
}

export interface GroupBounds {
  readonly inputs: number;
  readonly tokens: number;
}

/** Embedding calls that go out as one request. Each has a reservation of his own, and is charged his own share. */
export class EmbeddingGroup {
  private readonly bounds: GroupBounds;
  private readonly members: Member[] = [];
  private readonly stop = new AbortController();
  private inputs = 0;
  private tokens = 0;
  private sent = false;

  constructor(bounds: GroupBounds) {
    this.bounds = bounds;
  }

  /** Whether there is nobody left who waits for it. */
  get isEmpty(): boolean {
    return this.members.every(({ left }) => left);
  }

  hasRoomFor(joining: Joining): boolean {
    const { inputs, tokens } = this.bounds;
    return this.inputs + joining.inputs.items.length <= inputs && this.tokens + tokensOf(joining) <= tokens;
  }

  /** Takes part. Whoever hangs up leaves alone; the request itself is given up when all have left. */
  join(joining: Joining): Promise<Joined> {
    const { signal } = joining.held;
    const member = new Member(joining);
    this.members.push(member);
    this.inputs += joining.inputs.items.length;
    this.tokens += tokensOf(joining);
    const leave = () => this.leave(member, signal.reason);
    if (signal.aborted) leave();
    else onAbort(signal, leave);
    return member.outcome.promise.finally(() => offAbort(signal, leave));
  }

  /** Sends what has come together. It never fails: whoever waits is told. */
  async flush(): Promise<void> {
    const present = this.members.filter(({ left }) => !left);
    const [first] = present;
    this.sent = true;
    if (first === undefined) return;
    if (present.length === 1) return first.outcome.resolve({ kind: "solo" });
    const text = joinedBody(present.map(({ joining }) => joining.inputs));
    const egress = shareOut(
      Buffer.byteLength(text),
      present.map(({ joining: { egress_bytes } }) => ({ weight: egress_bytes, most: egress_bytes })),
    );
    try {
      const answer = await first.joining.send(text, this.stop.signal);
      this.share(present, answer, egress);
    } catch (error) {
      for (const { outcome } of present) {
        if (isUnsent(error, first.joining.url)) outcome.resolve({ kind: "failed", error, usage: NOTHING_SENT });
        else outcome.reject(error);
      }
    }
  }

  private leave(member: Member, reason: unknown): void {
    member.left = true;
    member.outcome.reject(reason);
    if (!this.sent) member.joining.late(NOTHING_SENT);
    else if (this.isEmpty) this.stop.abort(reason);
  }

  private share(present: readonly Member[], answer: WholeAnswer, egress: readonly number[]): void {
    const { status } = answer;
    const sent = (index: number) => ({ network_egress_bytes: egress[index] ?? 0 });
    if (status >= 200 && status < 300) {
      this.shareOut(present, answer, egress);
      return;
    }
    for (const [index, member] of present.entries()) {
      if (WRONG.has(status)) settle(member, { kind: "alone", egress_bytes: egress[index] ?? 0 }, NOTHING_USED);
      else {
        const usage = isFree(status) ? { ...NOTHING_USED, ...sent(index) } : undefined;
        settle(member, { kind: "answer", answer, first: index === 0, ...(usage && { usage }) }, usage);
      }
    }
  }

  private shareOut(present: readonly Member[], answer: WholeAnswer, egress: readonly number[]): void {
    const parsed = parsedObject(answer.body.toString("utf8")) ?? {};
    const tokens = OPENAI_EMBEDDINGS.usage(parsed)?.input ?? null;
    const header = (name: string) => answer.headers[name];
    const claims = joinedClaims(claimsInHeaders(header), claimsIn(parsed));
    const shares =
      tokens === null
        ? null
        : shareOut(
            tokens,
            present.map(({ joining }) => sharerOf(joining)),
          );
    const parts = splitAnswer(
      answer.body,
      present.map(({ joining }) => joining.inputs.items.length),
    );
    for (const [index, member] of present.entries()) {
      const share = shares?.[index] ?? null;
      member.joining.held.claim(tokens === null ? claims : sharedClaims(claims, (share ?? 0) / tokens));
      const counted = share === null ? null : member.joining.held.usage({ input: share, output: 0 });
      const usage = counted === null ? null : { ...counted, network_egress_bytes: egress[index] ?? 0 };
      const part = parts?.[index] ?? null;
      if (part !== null) {
        const own = partOf(answer, part, share);
        settle(member, { kind: "answer", answer: own, first: index === 0, ...(usage && { usage }) }, usage);
      } else if (usage !== null) settle(member, { kind: "failed", error: new UnfitAnswer(), usage }, usage);
      else member.outcome.reject(new UnfitAnswer());
    }
  }
}

/** The provider has not answered what was asked. */
class UnfitAnswer extends BursarError {
  override readonly name: string = "UnfitAnswer";

  constructor() {
    super("provider_answer", "the provider has not answered with one embedding for each input");
  }
}

/** Who has left is charged what it came to all the same, in place of the most it could have been. */
function settle({ left, joining, outcome }: Member, joined: Joined, usage: BudgetAmounts | null | undefined): void {
  if (!left) outcome.resolve(joined);
  else if (usage) joining.late(usage);
}

function tokensOf({ held, inputs }: Joining): number {
  return held.granted.llm_input_tokens ?? weightOf(inputs);
}

function sharerOf(joining: Joining): { readonly weight: number; readonly most: number } {
  return { weight: weightOf(joining.inputs), most: tokensOf(joining) };
}

/** The answer as one of them gets it: with what he used himself. */
function partOf({ status, headers }: WholeAnswer, part: JsonObject, share: number | null): WholeAnswer {
  const usage = share === null ? {} : { usage: { ...objectOf(part.usage), prompt_tokens: share, total_tokens: share } };
  return { status, headers, body: Buffer.from(JSON.stringify({ ...part, ...usage })) };
}

import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { listOf, objectOf } from "../../models/wire/json-object.js";
import type { Assembly } from "./dialect.js";

/** More calls than any answer has are not kept, so that a hostile provider cannot fill the memory. */
const MOST_CALLS = 1_024;

interface Call {
  /** What came with it besides its function: its id, and what some servers seal. */
  about: JsonObject;
  name: string;
  input: string;
}

/** Puts the chunks of one completion together. */
export class ChatAssembly implements Assembly {
  private readonly calls = new Map<number, Call>();
  private content = "";
  private refusal = "";
  private reason: Json = null;

  read(_event: string, data: JsonObject): void {
    const { delta, finish_reason = null } = objectOf(listOf(data.choices)[0]);
    const { content, refusal, tool_calls } = objectOf(delta);
    if (typeof content === "string") this.content += content;
    if (typeof refusal === "string") this.refusal += refusal;
    for (const piece of listOf(tool_calls)) this.add(objectOf(piece));
    this.reason = finish_reason ?? this.reason;
  }

  get body(): JsonObject | null {
    if (this.reason === null) return null;
    const tool_calls = [...this.calls.values()].map(({ about, name, input }) => ({
      ...about,
      function: { name, arguments: input },
    }));
    const content = this.content === "" && tool_calls.length > 0 ? null : this.content;
    const message = {
      role: "assistant",
      content,
      ...(this.refusal !== "" && { refusal: this.refusal }),
      ...(tool_calls.length > 0 && { tool_calls }),
    };
    return { choices: [{ message, finish_reason: this.reason }] };
  }

  /** Some servers leave the index out where there is one call. */
  private add({ index = 0, function: named, ...about }: JsonObject): void {
    if (!isCount(index)) return;
    const call = this.calls.get(index) ?? { about: {}, name: "", input: "" };
    if (!this.calls.has(index) && this.calls.size >= MOST_CALLS) return;
    const { name, arguments: input } = objectOf(named);
    call.about = { ...call.about, ...about };
    if (typeof name === "string") call.name += name;
    if (typeof input === "string") call.input += input;
    this.calls.set(index, call);
  }
}

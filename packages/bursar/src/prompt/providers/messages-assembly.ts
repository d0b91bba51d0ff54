import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { objectOf, parsedObject } from "../../models/wire/json-object.js";
import type { Assembly } from "./dialect.js";

/** More blocks than any answer has are not kept, so that a hostile provider cannot fill the memory. */
const MOST_BLOCKS = 4_096;

/** Which field of a block each kind of piece is added to. */
const FIELDS: ReadonlyMap<Json | undefined, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["signature_delta", "signature"],
]);

interface Block {
  fields: JsonObject;
  /** What a tool is to be given, as the JSON that has come so far. */
  input: string;
}

/** Puts the events of one message together. */
export class MessagesAssembly implements Assembly {
  private readonly blocks = new Map<number, Block>();
  private end: JsonObject = {};
  private begun = false;
  private over = false;

  read(event: string, data: JsonObject): void {
    const { type = event, index, delta } = data;
    if (type === "message_start") this.begun = true;
    else if (type === "content_block_start" && isCount(index) && this.blocks.size < MOST_BLOCKS) {
      this.blocks.set(index, { fields: objectOf(data.content_block), input: "" });
    } else if (type === "content_block_delta" && isCount(index)) this.add(index, objectOf(delta));
    else if (type === "message_delta") this.end = { ...this.end, ...objectOf(delta) };
    else if (type === "message_stop") this.over = true;
  }

  get body(): JsonObject | null {
    if (!this.begun || !this.over) return null;
    const content = [...this.blocks.values()].map(({ fields, input }) =>
      fields.type === "tool_use" && input !== "" ? { ...fields, input: parsedObject(input) ?? input } : fields,
    );
    return { ...this.end, content };
  }

  private add(index: number, delta: JsonObject): void {
    const block = this.blocks.get(index);
    if (block === undefined) return;
    if (typeof delta.partial_json === "string") block.input += delta.partial_json;
    const field = FIELDS.get(delta.type);
    const piece = field === undefined ? undefined : delta[field];
    if (field === undefined || typeof piece !== "string") return;
    const { [field]: before = "" } = block.fields;
    block.fields = { ...block.fields, [field]: `${before}${piece}` };
  }
}

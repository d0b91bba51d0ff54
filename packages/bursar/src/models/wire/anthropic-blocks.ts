import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { show } from "../../core/errors.js";
import { noteCacheControl } from "./cache-control.js";
import { anthropicToolKind, hostedMember, usesIn } from "./hosted-tools.js";
import type { Intake } from "./intake.js";
import { listOf, objectOf } from "./json-object.js";
import { below, forEachObject, isSaid, listAt, nameOf, objectAt, type Place, textAt } from "./request-fields.js";
import { hostedTool } from "./surcharges.js";

/** The dearest an image comes to: it is scaled down to 2576 pixels a side, and larger ones are refused. */
const IMAGE = 5_000;

/** The provider writes something around tools that the request does not show. */
const AROUND_TOOLS = 1_024;

/** What the provider's own description of a tool takes that it runs. */
const DESCRIBED_TOOL = 4_096;

/** Tools whose description is the provider's own, and which the caller runs, with the most that description takes. */
const CLIENT_TOOLS: readonly (readonly [prefix: string, tokens: number])[] = [
  ["bash_", 4_096],
  ["text_editor_", 4_096],
  ["memory_", 4_096],
  ["computer_toolset_", 16_384],
  ["browser_toolset_", 16_384],
  ["computer_", 4_096],
];

/** Reads the tools of a request. What the provider runs by itself is refused. */
export function readTools(tools: Json | undefined, intake: Intake, hosts: boolean): void {
  if (!isSaid(tools)) return;
  if (listAt(tools, "tools").length > 0) intake.add(AROUND_TOOLS);
  forEachObject(tools, "tools", (tool, at) => readTool(tool, at, intake, hosts));
}

/** Reads a content, which is a text or a list of blocks. */
export function readContent(content: Json | undefined, place: Place, intake: Intake): void {
  if (!isSaid(content)) return;
  if (typeof content === "string") {
    intake.text(content);
    return;
  }
  forEachObject(content, place, (block, at) => {
    noteCacheControl(block, intake);
    readBlock(block, at, intake);
  });
}

/** Whether the caller runs a tool. */
export function isClientTool({ type }: JsonObject): boolean {
  if (!isSaid(type) || type === "custom") return true;
  return CLIENT_TOOLS.some(([prefix]) => typeof type === "string" && type.startsWith(prefix));
}

function readTool(tool: JsonObject, place: Place, intake: Intake, hosts: boolean): void {
  noteCacheControl(tool, intake);
  const { type } = tool;
  if (!isSaid(type) || type === "custom") {
    const hosted = hostedMember(tool);
    if (hosted !== null) throw hostedTool(place, hosted);
    return;
  }
  const known = CLIENT_TOOLS.find(([prefix]) => typeof type === "string" && type.startsWith(prefix));
  if (known !== undefined) {
    intake.add(known[1]);
    return;
  }
  const kind = hosts ? anthropicToolKind(tool, place) : null;
  if (kind === null) throw hostedTool(place, type);
  intake.add(DESCRIBED_TOOL);
  // Results of the provider's tools are kept in its cache between the rounds.
  intake.cache("5m");
  intake.host(kind, usesIn(tool.max_uses, below(place, "max_uses")), () => `what ${String(type)} finds`);
}

function readBlock(block: JsonObject, place: Place, intake: Intake): void {
  switch (block.type) {
    case "text":
      intake.text(textAt(block.text, below(place, "text")));
      break;
    case "image": {
      const at = below(place, "source");
      const { type, data, url, media_type } = objectAt(block.source, at);
      // A file that is sent as an image is one, or it is refused; an image has its figure wherever it lies.
      if (type === "base64") intake.imageAt(textAt(data, below(at, "data")), media_type, IMAGE, at);
      else if (typeof url === "string") intake.imageAt(url, media_type, IMAGE, at, 0);
      else intake.image(IMAGE, 0);
      break;
    }
    case "document":
      readDocument(objectAt(block.source, below(place, "source")), below(place, "source"), intake);
      break;
    case "search_result":
    case "tool_result":
      readContent(block.content, below(place, "content"), intake);
      break;
    case "tool_addition":
      readToolChange(block, place, intake);
      break;
    // All of these stand in the body as a whole. The seal of a thinking block holds what its text sums up.
    case "thinking":
    case "redacted_thinking":
    case "tool_use":
    case "tool_reference":
    case "tool_removal":
    case "browser_state":
      break;
    case "compaction":
      for (const change of listOf(block.tool_changes))
        readToolChange(objectOf(change), below(place, "tool_changes"), intake);
      intake.unknown(() => `the compacted conversation in ${nameOf(place)}`);
      break;
    default:
      // Files in containers, and what tools of the provider's own have brought in, sealed.
      intake.unknown(() => `${nameOf(place)} of type ${show(block.type)}`);
  }
}

function readDocument(source: JsonObject, place: Place, intake: Intake): void {
  switch (source.type) {
    case "text":
      intake.text(textAt(source.data, below(place, "data")));
      break;
    case "content":
      readContent(source.content, below(place, "content"), intake);
      break;
    default:
      // Even a PDF that stands in the body: it holds compressed text, and a picture of each page is counted beside it.
      intake.unknown(() => `the document in ${nameOf(place)}`);
  }
}

/** A tool that joins in the middle of a conversation is read like the others. */
function readToolChange({ type, tool }: JsonObject, place: Place, intake: Intake): void {
  if (type !== "tool_addition") return;
  const { type: kind, definition } = objectOf(tool);
  if (kind === "tool_definition")
    readTool(objectAt(definition, below(place, "tool.definition")), below(place, "tool.definition"), intake, false);
  else if (typeof kind === "string" && kind.startsWith("mcp_")) throw hostedTool(below(place, "tool"), kind);
}

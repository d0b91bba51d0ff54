import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { noteCacheControl } from "./cache-control.js";
import { hostedMember, openaiToolKind } from "./hosted-tools.js";
import type { Intake } from "./intake.js";
import { isObject, objectOf } from "./json-object.js";
import { keptTokens } from "./kept-items.js";
import { checkCase } from "./member-names.js";
import { AROUND_TOOLS } from "./openai-body.js";
import type { OpenaiModel } from "./openai-models.js";
import { below, forEachObject, isSaid, listAt, nameOf, objectAt, type Place, textAt } from "./request-fields.js";
import { hostedTool } from "./surcharges.js";
import { UnboundedError } from "./unbounded-error.js";

/** What the provider's own description of a tool takes, which the caller runs. */
const DESCRIBED_TOOL = 4_096;

/** Tools that the caller runs, though the provider describes them. */
const CLIENT_TOOLS: ReadonlySet<Json | undefined> = new Set([
  "local_shell",
  "apply_patch",
  "computer",
  "computer_use_preview",
]);

/** Items that stand in the body as a whole. */
const WHOLE: ReadonlySet<Json | undefined> = new Set([
  "local_shell_call",
  "local_shell_call_output",
  "shell_call",
  "shell_call_output",
  "tool_search_call",
  "apply_patch_call",
  "apply_patch_call_output",
  "computer_call",
]);

/** Reads the input of a request, which is a text or a list of items. */
export function readInput(input: Json | undefined, about: OpenaiModel, intake: Intake): void {
  if (!isSaid(input)) return;
  if (typeof input === "string") {
    intake.text(input);
    return;
  }
  if (!Array.isArray(input)) throw new InputError("input", `is ${show(input)}; allowed: a text or a list of items`);
  forEachObject(input, "input", (item, at) => readItem(item, at, about, intake));
}

/** Reads a list of tools. What the provider runs by itself is refused. */
export function readTools(tools: Json | undefined, place: Place, intake: Intake, hosts: boolean): void {
  if (!isSaid(tools)) return;
  if (listAt(tools, place).length > 0) intake.add(AROUND_TOOLS);
  forEachObject(tools, place, (tool, at) => {
    const { type } = tool;
    if (type === "function" || type === "custom") {
      const hosted = hostedMember(tool);
      if (hosted !== null) throw hostedTool(at, hosted);
      return;
    }
    if (type === "namespace") readTools(tool.tools, below(at, "tools"), intake, hosts);
    else if (CLIENT_TOOLS.has(type) || isRunByCaller(tool)) intake.add(DESCRIBED_TOOL);
    else {
      const kind = hosts ? openaiToolKind(type) : null;
      if (kind === null) throw hostedTool(at, type);
      intake.add(DESCRIBED_TOOL);
      intake.host(kind, null, () => `what ${String(type)} finds`);
    }
  });
}

/** Whether the caller runs a tool. */
export function isClientTool(tool: JsonObject): boolean {
  const { type } = tool;
  return type === "function" || type === "custom" || CLIENT_TOOLS.has(type) || isRunByCaller(tool);
}

/** Two tools run on either side; which one, the request says. */
function isRunByCaller({ type, execution, environment }: JsonObject): boolean {
  if (isObject(environment)) checkCase(environment, "environment");
  if (type === "tool_search") return execution === "client";
  return type === "shell" && objectOf(environment).type === "local";
}

function readItem(item: JsonObject, place: Place, about: OpenaiModel, intake: Intake): void {
  switch (item.type ?? (isSaid(item.role) ? "message" : "item_reference")) {
    case "message":
    case "agent_message":
      readContent(item.content, below(place, "content"), about, intake);
      break;
    case "function_call":
      intake.text(textAt(item.arguments, below(place, "arguments")));
      break;
    case "custom_tool_call":
      intake.text(textAt(item.input, below(place, "input")));
      break;
    case "function_call_output":
    case "custom_tool_call_output":
      readContent(item.output, below(place, "output"), about, intake);
      break;
    case "computer_call_output":
      readPart(
        { ...objectAt(item.output, below(place, "output")), type: "input_image" },
        below(place, "output"),
        about,
        intake,
      );
      break;
    case "reasoning":
      // Sealed, it is longer than what was thought; without the seal it is looked up at the provider's.
      if (typeof item.encrypted_content === "string") break;
      if (isSaid(item.content)) readContent(item.content, below(place, "content"), about, intake);
      else intake.kept(keptTokens(item.id), () => `what was thought in ${nameOf(place)}, which the provider keeps`);
      break;
    case "item_reference":
      intake.kept(keptTokens(item.id), () => `${nameOf(place)} of type ${show(item.type)}`);
      break;
    case "additional_tools":
    case "tool_search_output":
      readTools(item.tools, below(place, "tools"), intake, false);
      break;
    case "compaction_trigger":
      throw new UnboundedError(
        nameOf(place),
        "makes the provider sum up the conversation, which no limit bounds; leave it out",
      );
    default:
      // References to what the provider keeps, compacted conversations, and what tools of the provider's own have brought in.
      if (!WHOLE.has(item.type)) intake.unknown(() => `${nameOf(place)} of type ${show(item.type)}`);
  }
}

function readContent(content: Json | undefined, place: Place, about: OpenaiModel, intake: Intake): void {
  if (!isSaid(content)) return;
  if (typeof content === "string") {
    intake.text(content);
    return;
  }
  forEachObject(content, place, (part, at) => readPart(part, at, about, intake));
}

function readPart(part: JsonObject, place: Place, about: OpenaiModel, intake: Intake): void {
  noteCacheControl(part, intake);
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
    case "reasoning_text":
      intake.text(textAt(part.text, below(place, "text")));
      break;
    case "refusal":
      intake.text(textAt(part.refusal, below(place, "refusal")));
      break;
    case "input_image": {
      // A file that is sent as an image is one, or it is refused; an image has its figure wherever it lies.
      if (isObject(part.image_url)) checkCase(part.image_url, below(place, "image_url"));
      const url = isObject(part.image_url) ? part.image_url.url : part.image_url;
      const at = below(place, "image_url");
      if (isSaid(url)) intake.imageAt(textAt(url, at), part.format, about.imageTokens(part.detail), at);
      else intake.image(about.imageTokens(part.detail), 0);
      break;
    }
    case "input_audio":
      intake.sound();
      break;
    default:
      // Files too, even those that stand in the body: a PDF holds compressed text, and a picture of each page is counted beside it.
      intake.unknown(() => `${nameOf(place)} of type ${show(part.type)}`);
  }
}

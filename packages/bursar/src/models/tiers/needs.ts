import type { Json, JsonObject } from "../../core/chain/canonical.js";
import type { KnownCapability } from "../../ports/tiers.js";
import { isObject, listOf, objectOf } from "../wire/json-object.js";

const PARTS: Readonly<Record<string, KnownCapability>> = {
  image: "images",
  image_url: "images",
  input_image: "images",
  input_audio: "audio",
  file: "files",
  input_file: "files",
  document: "files",
};

const FORMATS: ReadonlySet<unknown> = new Set(["json_schema", "json_object", "json"]);

/** Results of tools hold parts too, and those could hold further ones; deeper than this nobody writes them. */
const MOST_LEVELS = 4;

/** What a request needs of a model, in any of the protocols: tools, images, sound, files, an answer of a given structure. */
export function needsOf(body: JsonObject): ReadonlySet<string> {
  const needs = new Set<string>();
  if (listOf(body.tools).length > 0 || listOf(body.functions).length > 0) needs.add("tools");
  const { format: text } = objectOf(body.text);
  const { format: output } = objectOf(body.output_config);
  for (const format of [body.response_format, text, output, body.output_format]) {
    if (FORMATS.has(objectOf(format).type)) needs.add("structured_output");
  }
  for (const list of [body.messages, body.input, body.system]) noteParts(list, needs, 0);
  if (listOf(body.modalities).includes("audio")) needs.add("audio");
  return needs;
}

function noteParts(list: Json | undefined, needs: Set<string>, level: number): void {
  if (level > MOST_LEVELS || !Array.isArray(list)) return;
  for (const each of list as readonly Json[]) {
    if (!isObject(each)) continue;
    const { type } = each;
    const need = typeof type === "string" && Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
    if (need !== undefined) needs.add(need);
    noteParts(each.content, needs, level + 1);
    noteParts(each.output, needs, level + 1);
  }
}

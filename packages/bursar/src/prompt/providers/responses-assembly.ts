import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { objectOf } from "../../models/wire/json-object.js";
import type { Assembly } from "./dialect.js";

const ENDS: ReadonlySet<Json | undefined> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Waits for the last event of a response, which holds all of it. */
export class ResponsesAssembly implements Assembly {
  body: JsonObject | null = null;

  read(event: string, data: JsonObject): void {
    if (ENDS.has(data.type ?? event)) this.body = objectOf(data.response);
  }
}

import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { defaultFile } from "bursar/store";
import type { Environment } from "../app/environment.js";

/** A store of its own beside the user's, so that what is tried out stays apart from what is meant. */
export function demoStore(env: Environment): string {
  const own = defaultFile({ platform: process.platform, env, home: homedir() });
  return `sqlite:${join(dirname(own), "demo.db")}`;
}

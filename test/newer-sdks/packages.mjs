import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));

/** The packages that the same tests get in place of the ones beside them. */
export const NEWER = ["@ai-sdk/anthropic", "@ai-sdk/openai", "@openai/agents", "ai", "openai", "undici"];

/** Whether an import is answered from this folder. What the SDKs themselves import stays theirs. */
export function isReplaced(specifier, importer = "") {
  if (importer.includes("/node_modules/")) return false;
  return NEWER.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

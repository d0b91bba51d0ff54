import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type LoggingLevel, SetLevelRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Notice } from "bursar";
import type { Extra } from "./said.js";

/** Tells a client what its budget has to say, once: a threshold that was crossed, or that nothing is left. */
export type Warn = (notice: Notice, extra: Extra) => void;

const GRAVER: readonly LoggingLevel[] = ["error", "critical", "alert", "emergency"];

/**
 * Warns on the stream of the call that crossed the threshold: another one need not be open, and what is sent to nobody is lost.
 * A client that wants to hear only of graver things is not told.
 */
export function warning(server: McpServer): Warn {
  let isQuiet = false;
  server.server.setRequestHandler(SetLevelRequestSchema, async ({ params: { level } }) => {
    isQuiet = GRAVER.includes(level);
    return {};
  });
  return ({ kind, budget, dimension, percent }, extra) => {
    if (isQuiet) return;
    const standing = kind === "Exhausted" ? "is exhausted" : `is used to ${percent} %`;
    const params = { level: "warning", logger: "bursar", data: `${dimension} of ${budget} ${standing}` } as const;
    void extra.sendNotification({ method: "notifications/message", params }).catch(() => {});
  };
}

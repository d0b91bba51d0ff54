import { z } from "zod";
import { BOUNDS } from "./code-sessions.js";

export const LANGUAGE: z.ZodEnum<{ python: "python"; javascript: "javascript" }> = z.enum(["python", "javascript"]);

export const SESSION_ID: z.ZodString = z
  .string()
  .min(1)
  .max(200)
  .describe("A session of yours, as create_session named it.");

/** What is left of the budget that pays for code. */
const BUDGET_LEFT: z.ZodObject = z.object({
  budget_id: z.string(),
  limits: z.record(z.string(), z.number()),
  used: z.record(z.string(), z.number()),
  held: z.record(z.string(), z.number()).describe("Reserved for calls under way: neither used nor free."),
  remaining: z.record(z.string(), z.number()),
});

/** The sandbox's result, whose keys only ever become more. */
export const EXECUTED: z.ZodObject = z.looseObject({
  success: z.boolean().describe("Whether the program ran to its end with exit code 0."),
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.number(),
  fuel_consumed: z.number(),
  memory_used_bytes: z.number(),
  duration_ms: z.number(),
  files_created: z.array(z.string()),
  files_modified: z.array(z.string()),
  session_id: z.string(),
  metadata: z.looseObject({
    fuel_analysis: z.looseObject({
      consumed: z.number(),
      budget: z.number(),
      utilization_percent: z.number(),
      status: z.enum(["efficient", "moderate", "warning", "critical", "exhausted"]),
      recommendation: z.string().nullable(),
      likely_causes: z.array(z.string()),
    }),
    error_guidance: z
      .looseObject({
        error_type: z.string(),
        error_message: z.string(),
        actionable_guidance: z.array(z.string()),
        related_docs: z.array(z.string()),
        code_examples: z.array(z.string()).optional(),
      })
      .nullish(),
    trap_reason: z.string().nullable(),
    trap_message: z.string().nullable(),
    stdout_truncated: z.boolean(),
    stderr_truncated: z.boolean(),
  }),
  budget: BUDGET_LEFT,
});

export const SESSION: z.ZodObject = z.object({
  session_id: z.string(),
  language: LANGUAGE,
  fuel_budget: z.number().describe("What each execution may burn."),
  timeout_ms: z.number(),
  memory_limit_mib: z.number(),
  packages: z.array(z.string()),
  auto_persist_globals: z.boolean(),
  created: z.number().describe("Milliseconds since 1970."),
});

/** A whole number within bounds, as schemas say it. */
export function wholeUpTo(most: number, least = 1): z.ZodNumber {
  return z.number().int().min(least).max(most);
}

export const PACKAGES: z.ZodArray<z.ZodString> = z
  .array(z.string().min(1).max(100))
  .max(BOUNDS.packages)
  .describe("Vendored packages that Python may import: all that are installed unless it says otherwise.");

import { expect } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import type { ErrorFacts } from "../../src/analysis/facts.js";
import { analyzeFuel } from "../../src/analysis/fuel.js";
import { explainError } from "../../src/analysis/guidance.js";
import type { FuelStatus, SandboxResult } from "../../src/analysis/result.js";
import { B, failed } from "./spec-table.js";

/** What a client written before there was any analysis knows about a result. */
interface OldResult {
  readonly success: boolean;
  readonly stdout: string;
  readonly fuel_consumed: number;
  readonly metadata?: { readonly trap_reason?: string | null; readonly [more: string]: unknown };
}

function oldClient(json: string): string {
  const { success, stdout, fuel_consumed, metadata }: OldResult = JSON.parse(json);
  return `${success} ${stdout.trim()} ${fuel_consumed} ${String(metadata?.trap_reason)}`;
}

/** A result as a session puts it together. */
function resultOf(facts: ErrorFacts): SandboxResult {
  const success = facts.exitCode === 0 && facts.trap === null;
  return {
    success,
    stdout: "hello\n",
    stderr: facts.stderr ?? "",
    exit_code: facts.exitCode,
    fuel_consumed: facts.consumed,
    memory_used_bytes: 10_485_760,
    duration_ms: 12,
    files_created: [],
    files_modified: [],
    session_id: "s-1",
    metadata: {
      fuel_analysis: analyzeFuel(facts),
      error_guidance: explainError(facts),
      trap_reason: facts.trap,
      trap_message: null,
      stdout_truncated: false,
      stderr_truncated: false,
    },
  };
}

/** The same result from before: without the two structures. */
function withoutAnalysis(result: SandboxResult): unknown {
  const { fuel_analysis: _, error_guidance: __, ...metadata } = result.metadata;
  return { ...result, metadata };
}

const ok = failed({ exitCode: 0, consumed: 8.5 * B });
const broken = failed({ consumed: 2 * B, stderr: "FileNotFoundError: /etc/passwd" });

scenario("000/existing-clients-ignore-fuel-analysis", () => {
  const result = resultOf(ok);

  expect(oldClient(JSON.stringify(result))).toBe(oldClient(JSON.stringify(withoutAnalysis(result))));
  expect(oldClient(JSON.stringify(result))).toBe("true hello 8500000000 null");
});

scenario("001/existing-clients-ignore-new-fields", () => {
  const result = resultOf(broken);

  expect(oldClient(JSON.stringify(result))).toBe(oldClient(JSON.stringify(withoutAnalysis(result))));
  expect(oldClient(JSON.stringify(result))).toBe("false hello 2000000000 null");
});

scenario("000/new-clients-consume-fuel-analysis", () => {
  const icons: Record<FuelStatus, string> = {
    efficient: "",
    moderate: "",
    warning: "!",
    critical: "!!",
    exhausted: "X",
  };
  const { metadata }: SandboxResult = JSON.parse(JSON.stringify(resultOf(ok)));

  expect(icons[metadata.fuel_analysis.status]).toBe("!");
  expect(metadata.fuel_analysis.recommendation).toContain("15B");
  expect(metadata.fuel_analysis).toEqual(resultOf(ok).metadata.fuel_analysis);
});

scenario("001/new-clients-consume-error-guidance", () => {
  const received: SandboxResult = JSON.parse(JSON.stringify(resultOf(broken)));
  const guidance = received.metadata.error_guidance;

  expect(guidance?.actionable_guidance[0]).toContain("/etc/passwd");
  expect(guidance?.related_docs).toEqual(["docs/MCP_INTEGRATION.md#security-considerations"]);
  expect(JSON.parse(JSON.stringify(resultOf(ok))).metadata.error_guidance).toBeNull();
});

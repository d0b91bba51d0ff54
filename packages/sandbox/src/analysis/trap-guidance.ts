import { DOCS } from "./docs.js";
import type { ErrorFacts } from "./facts.js";
import { outOfFuel } from "./out-of-fuel.js";
import type { ErrorGuidance, TrapReason } from "./result.js";
import { clean } from "./text.js";

/** For an execution that the host ended. The host's reason is certain, so it goes before anything the guest has written. */
export function trapGuidance(trap: TrapReason, facts: ErrorFacts): ErrorGuidance {
  switch (trap) {
    case "out_of_fuel":
      return outOfFuel(facts);
    case "memory_limit":
      return memoryExhausted(trapped("MemoryExhausted", facts), facts);
    case "stack_overflow":
      return stackOverflow(trapped("StackOverflow", facts), facts);
    case "timeout":
      return timeout(facts);
    case "unreachable":
    case "trap":
      return unreachable(facts);
  }
}

export function memoryExhausted(message: string, { memoryLimitBytes, language }: ErrorFacts): ErrorGuidance {
  const limit = memoryLimitBytes === undefined ? "memory limit" : `${megabytes(memoryLimitBytes)} memory limit`;
  return {
    error_type: "MemoryExhausted",
    error_message: message,
    actionable_guidance: [
      `Code needed more memory than the session's ${limit}`,
      "Solution 1: Work on data in parts (read line by line, write results as they come) and drop what is no longer needed",
      "Solution 2: Create session with higher memory limit",
    ],
    related_docs: [DOCS.limits[language]],
  };
}

export function stackOverflow(message: string, { language }: ErrorFacts): ErrorGuidance {
  return {
    error_type: "StackOverflow",
    error_message: message,
    actionable_guidance: [
      "Calls were nested too deeply: the stack of the sandbox is small and does not grow",
      "Likely cause: recursion without an end, or over deeply nested data",
      "Solution: Use a loop with a list of what is left to do instead of recursion",
      ...(language === "python" ? ["sys.setrecursionlimit does not make the stack larger"] : []),
    ],
    related_docs: [DOCS.limits[language]],
  };
}

function timeout(facts: ErrorFacts): ErrorGuidance {
  const limit = facts.timeoutMs === undefined ? "its time limit" : `its time limit of ${seconds(facts.timeoutMs)}`;
  return {
    error_type: "Timeout",
    error_message: trapped("Timeout", facts),
    actionable_guidance: [
      `Execution ran longer than ${limit}`,
      "Likely cause: a loop without an end, or waiting (sleep, a host call that takes long)",
      "Solution 1: Check that every loop ends, or divide the work into several executions",
      "Solution 2: Create session with higher timeout",
    ],
    related_docs: [DOCS.limits[facts.language]],
  };
}

function unreachable(facts: ErrorFacts): ErrorGuidance {
  return {
    error_type: "WASMUnreachable",
    error_message: trapped("WASMUnreachable", facts),
    actionable_guidance: [
      "The interpreter itself stopped: this is no exception that code can catch",
      "Likely cause: recursion inside the interpreter (deeply nested data, regular expressions or expressions), or memory that ran out",
      "Solution: Try smaller or flatter data, and run the code in parts to find the statement",
    ],
    related_docs: [DOCS.troubleshooting[facts.language]],
  };
}

const MOST_MESSAGE = 300;

/** `Execution trapped: Timeout`, with the machine's own words where there are any. */
function trapped(type: string, { trapMessage }: ErrorFacts): string {
  const message = clean((trapMessage ?? "").trim(), MOST_MESSAGE);
  return message === "" ? `Execution trapped: ${type}` : `Execution trapped: ${type} (${message})`;
}

function megabytes(bytes: number): string {
  return `${Math.round((bytes / 1_048_576) * 10) / 10} MiB`;
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}

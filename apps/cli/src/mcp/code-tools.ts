import { z } from "zod";
import { EXECUTED, LANGUAGE, PACKAGES, SESSION, SESSION_ID, wholeUpTo } from "./code-schemas.js";
import { BOUNDS, type CodeSession, SessionGone } from "./code-sessions.js";
import { type Executed, execute } from "./execution.js";
import { budgetLeft, limitsText } from "./left.js";
import { Progress } from "./progress.js";
import { type Extra, type Offer, type Said, ToolError } from "./said.js";
import type { Warn } from "./warnings.js";
import type { Workplace } from "./workplace.js";

const LONGEST_TEXT = 20_000;

const EXECUTE_INPUT = z.strictObject({
  code: z.string().min(1).describe("The whole program, as text."),
  language: LANGUAGE.optional().describe("python unless it says otherwise; not needed with a session_id."),
  session_id: SESSION_ID.optional(),
  fuel_budget: wholeUpTo(BOUNDS.fuel).optional().describe("What this execution may burn; else what the session has."),
  timeout_ms: wholeUpTo(BOUNDS.timeout_ms).optional(),
  stdin: z.string().max(BOUNDS.file_bytes).optional(),
  args: z.array(z.string().max(10_000)).max(100).optional().describe("sys.argv without the program's own name."),
});

/** Offers the tools that execute code and look after sessions. */
export function offerCode(offer: Offer, workplace: Workplace, warn: Warn): void {
  offer("execute_code", {
    title: "Execute code",
    description: executeText(workplace),
    input: EXECUTE_INPUT,
    output: EXECUTED,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    run: (args, extra) => executeCode(workplace, args, extra, warn),
  });
  offer("create_session", {
    title: "Create a session",
    description:
      "Creates a session: a guest of its own whose files in /app, and whose variables if auto_persist_globals is true, " +
      `live on from one execute_code to the next. You may have ${BOUNDS.sessions} at a time. fuel_budget is what EACH ` +
      `execution may burn: ${workplace.sessions.usualFuel} unless it says otherwise, ${workplace.sessions.mostFuel} at most; ` +
      "all executions together are paid for by the budget of this connection (see budget_status).",
    input: z.strictObject({
      language: LANGUAGE,
      fuel_budget: wholeUpTo(BOUNDS.fuel).optional(),
      timeout_ms: wholeUpTo(BOUNDS.timeout_ms).optional().describe("How long one execution may take: 60000."),
      memory_limit_mib: wholeUpTo(BOUNDS.memory_mib, 32).optional().describe("256 unless it says otherwise."),
      packages: PACKAGES.optional(),
      auto_persist_globals: z
        .boolean()
        .optional()
        .describe("Whether variables live on: true unless it says otherwise."),
    }),
    output: SESSION,
    run: async (args) => {
      const session = await workplace.sessions.create(args);
      return { structured: sessionView(session), text: `Session ${session.id} is there (${session.language}).` };
    },
  });
  offer("list_sessions", {
    title: "List sessions",
    description: "Lists your sessions. Those of others are not shown.",
    input: z.strictObject({}),
    output: z.object({ sessions: z.array(SESSION) }),
    annotations: { readOnlyHint: true },
    run: async () => {
      const sessions = (await workplace.sessions.present()).map(sessionView);
      const lines = sessions.map(({ session_id, language }) => `${session_id}  ${language}`);
      return { structured: { sessions }, text: lines.join("\n") || "You have no session." };
    },
  });
  offer("destroy_session", {
    title: "Destroy a session",
    description:
      "Destroys a session of yours, with its files and variables, and stops what it executes. This cannot be undone.",
    input: z.strictObject({ session_id: SESSION_ID }),
    output: z.object({ session_id: z.string(), destroyed: z.boolean() }),
    annotations: { destructiveHint: true },
    run: async ({ session_id }) => {
      await workplace.sessions.destroy(session_id);
      return { structured: { session_id, destroyed: true }, text: `Session ${session_id} is gone.` };
    },
  });
}

function executeText({ sessions, limits }: Workplace): string {
  return (
    "Executes untrusted Python or JavaScript in a sandbox: no network, no processes, no files but /app and read-only packages. " +
    "Without session_id it goes on in your usual session of that language, so variables and files are still there. " +
    `One execution may burn ${sessions.usualFuel} fuel unless it says otherwise, and ${sessions.mostFuel} at most. ` +
    `All executions of this connection together: ${limitsText(limits)}. When that is used up, nothing is executed until a ` +
    "person extends it. Read metadata.fuel_analysis after each execution, and metadata.error_guidance after a failure: " +
    "it says what to change. A failed program is a result with success=false, not an error of this tool. " +
    `Code may have ${BOUNDS.code_bytes} bytes; output is cut after 1 MiB.`
  );
}

/** Code that names no session is not tied to the usual one, which may have expired: it goes on in a new one. */
async function executeCode(
  workplace: Workplace,
  args: z.output<typeof EXECUTE_INPUT>,
  extra: Extra,
  warn: Warn,
): Promise<Said> {
  try {
    return await executeOnce(workplace, args, extra, warn);
  } catch (error) {
    if (!(error instanceof SessionGone) || args.session_id !== undefined) throw error;
    return executeOnce(workplace, args, extra, warn);
  }
}

async function executeOnce(
  workplace: Workplace,
  args: z.output<typeof EXECUTE_INPUT>,
  extra: Extra,
  warn: Warn,
): Promise<Said> {
  const { code, language = "python", session_id, stdin, args: argv } = args;
  checkCode(code);
  const { sessions } = workplace;
  const session = session_id === undefined ? await sessions.ordinary(language) : sessions.find(session_id);
  if (args.language !== undefined && args.language !== session.language) {
    throw new ToolError(
      `Session ${session.id} is for ${session.language}, not for ${args.language}.`,
      `leave language out, or create a session for ${args.language}.`,
    );
  }
  const fuel = args.fuel_budget ?? session.fuel_budget;
  if (fuel > sessions.mostFuel) {
    throw new ToolError(`fuel_budget is ${fuel}; this connection gives at most ${sessions.mostFuel}.`, "ask for less.");
  }
  const timeout_ms = args.timeout_ms ?? session.timeout_ms;
  using progress = new Progress(extra, "executing", timeout_ms);
  const onOutput = ({ text }: { readonly text: string }) => progress.say(text.trimEnd());
  const wish = { code, fuel, timeout_ms, stdin, args: argv, signal: extra.signal, onOutput };
  const executed = await execute(workplace, session, wish);
  for (const notice of executed.notices) warn(notice, extra);
  return {
    structured: { ...executed.result, budget: budgetLeft(workplace, executed.state) },
    text: textOf(executed),
  };
}

function checkCode(code: string): void {
  const bytes = Buffer.byteLength(code);
  if (bytes <= BOUNDS.code_bytes) return;
  throw new ToolError(
    `The code has ${bytes} bytes; allowed: ${BOUNDS.code_bytes}.`,
    "write large data to a file with session_files first, and read it in the program.",
  );
}

/** What a model reads: the program's own words, then what to do about them. */
function textOf({ result, state }: Executed): string {
  const { stdout, stderr, exit_code, success, metadata } = result;
  const { fuel_analysis: fuel, error_guidance: guidance } = metadata;
  const left = Object.entries(state.remaining).map(([id, amount]) => `${id} ${amount}`);
  return [
    ...(stdout === "" ? [] : [shortened(stdout)]),
    ...(stderr === "" ? [] : [`stderr:\n${shortened(stderr)}`]),
    `${success ? "ok" : `failed with exit code ${exit_code}`}; fuel ${fuel.consumed} of ${fuel.budget} (${fuel.status})`,
    ...(fuel.recommendation === null ? [] : [fuel.recommendation]),
    ...(guidance?.actionable_guidance ?? []),
    `left in budget: ${left.join(", ")}`,
  ].join("\n");
}

function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT)}\n… ${text.length - LONGEST_TEXT} characters more; all of it is in stdout and stderr`;
}

export function sessionView(session: CodeSession): z.output<typeof SESSION> {
  const { id: session_id, handle: _, ...rest } = session;
  return { session_id, ...rest };
}

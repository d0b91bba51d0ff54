import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { GetPromptResult } from "@modelcontextprotocol/sdk/types.js";
import type { Store } from "bursar";
import { z } from "zod";
import { isDeciding } from "../app/roles.js";
import { limitsText } from "./left.js";
import type { Peer } from "./options.js";
import { runIds } from "./resources.js";
import type { Workplace } from "./workplace.js";

/** Offers prompts for what people ask most often. */
export function offerPrompts(server: McpServer, store: Store, { principal }: Peer, workplace: Workplace | null): void {
  const run_id = completable(z.string().max(300).describe("The run's id"), (beginning) => runIds(store, beginning));
  server.registerPrompt(
    "explain_pause",
    {
      title: "Why has this run paused?",
      description: "Explains what a run waits for and what the choices are.",
      argsSchema: { run_id },
    },
    ({ run_id }) =>
      said(
        `Call run_status for run ${run_id}, and budget_status with the same run_id. Then explain to me, in a few sentences: what the ` +
          "run has done so far and what it has used; which dimension was exhausted, with its figures; what was suggested, and " +
          "whether that looks like enough judging by how fast it was used up; and what happens on a yes and on a no. " +
          "Decide nothing.",
      ),
  );
  if (workplace !== null) {
    const language = completable(
      z.enum(["python", "javascript"]).optional(),
      () => ["python", "javascript"] as const as never,
    );
    server.registerPrompt(
      "run_code_within_budget",
      {
        title: "Work with code inside a budget",
        description: "Solves something by executing code, with an eye on what it costs.",
        argsSchema: { goal: z.string().max(10_000).describe("What is to be found out or made"), language },
      },
      ({ goal, language = "python" }) =>
        said(
          `${goal}\n\nDo it by executing ${language} with execute_code. All executions together may use: ` +
            `${limitsText(workplace.limits)}. Begin with budget_status. Work in small steps in one session, so that variables and ` +
            "imports are kept. After each step read metadata.fuel_analysis, and after a failure metadata.error_guidance, and do " +
            "what they say. When the budget does not suffice, ask with budget_request_extension and tell me what is missing.",
        ),
    );
  }
  server.registerPrompt(
    "review_approvals",
    { title: "Review what waits", description: "Goes through the requests that wait for an answer." },
    () => said(isDeciding(principal) ? REVIEW : REVIEW_ONLY),
  );
}

const REVIEW =
  "Call approvals_list. For each request call run_status with its run_id, and tell me: what the run is for, what it has used against " +
  "its limits, what it asks for, and what you would answer and why. Then ask me about each. Only when I have said so call " +
  "budget_approve or budget_deny, with my reason.";

const REVIEW_ONLY =
  "Read the list of resources, look at runs that are paused with run_status, and tell me for each: what it has used against its limits, " +
  "what it asks for, and where I can answer it. You cannot answer it yourself.";

function said(text: string): GetPromptResult {
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}

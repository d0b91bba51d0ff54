import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { type BudgetLimits, type Principal, Sweeper, sessionBudget } from "bursar";
import { equip } from "../app/equipment/equipment.js";
import { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import { CommandError, UsageError, unknown } from "../app/errors.js";
import { bursarAt } from "../app/runs/open-bursar.js";
import type { Place } from "../app/store/opened-store.js";
import { command } from "../arguments/command-line.js";
import { equipmentOptions } from "../arguments/equipment-flags.js";
import {
  COMMON_HELP,
  EQUIPMENT,
  EQUIPMENT_HELP,
  type Given,
  limitsOf,
  principalOf,
  textOf,
} from "../arguments/run-flags.js";
import { openMcp } from "../mcp/mcp.js";
import { CODE_LIMITS, type McpSettings } from "../mcp/options.js";
import { mcpSettings } from "../mcp/settings.js";
import { CLIENTS, setupFor } from "../mcp/setup.js";
import { harmless } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { tellConfig } from "./common/config-notice.js";
import { configOf, makePlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";

const HELP = `Usage: bursar mcp [flags]

Speaks the Model Context Protocol on standard input and output, for a client
that starts it: Claude Code, Claude Desktop, Cursor, VS Code and others. A model
gets code execution in the sandbox, runs, and the state of budgets, all inside
of limits. With the role of an agent, which is the default, it can ask for more
and cannot grant it. \`bursar serve\` speaks the same over HTTP.

Flags:
  --setup <client>   print how to set it up, with the other flags given here:
                     claude-code, claude-desktop, cursor or vscode
  --role <role>      agent, or operator: then the tools that approve and deny
                     are there, too; for clients of people you trust with that
  --budget <limits>  what all code of this connection may use together, such as
                     fuel=50000000000,wall_clock=5m,storage_write=10MB; else
                     100 billion fuel, 10 minutes of running, 50 MiB written
                     and 1000 steps
  --session <id>     an open session whose limits this connection shares, its
                     code and its runs; an agent's runs take no other
  --unattended       nobody sits at the client: never ask there, and leave
                     requests to other places
  --install          let agents fetch Python packages that are not there yet
  --as <name>        who decides at the client; else the user's name
${EQUIPMENT_HELP}
${COMMON_HELP}

Exit codes: 0 the client is gone, 1 failed, 2 not understood

Examples:
  bursar mcp --setup claude-code
  bursar mcp --budget fuel=20000000000,wall_clock=2m
  bursar mcp --role operator --store postgres://bursar@db/bursar
`;

const COMMAND: RunsCommand = {
  help: HELP,
  flags: {
    setup: { type: "string" },
    role: { type: "string" },
    budget: { type: "string" },
    session: { type: "string" },
    unattended: { type: "boolean" },
    install: { type: "boolean" },
    as: { type: "string" },
    ...EQUIPMENT,
  },
  run: speak,
};

export function mcp(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand({ ...COMMAND, run: (chore) => speak(chore, args) }, args, terminal);
}

async function speak({ flags, terminal }: Chore, args: readonly string[] = []): Promise<Done> {
  const human = principalOf(flags);
  const role = roleOf(flags);
  const limits = budgetOf(flags);
  const setup = textOf(flags, "setup");
  if (setup !== undefined) {
    const text = setupText(setup, args);
    return { report: { client: setup, setup: text }, text };
  }
  if (terminal.keys !== null) process.stderr.write(`${ALONE}\n`);
  const config = configOf(flags, terminal);
  // Standard output is the protocol's, with --json too.
  tellConfig(config, { ...flags, json: undefined });
  await using equipment = await equip(
    equipmentOptions(flags, { env: terminal.env, config }),
    config,
    new LazySandbox(terminal.env),
  );
  await using place = await makePlace(flags, config, terminal);
  await using bursar = await bursarAt(place, equipment, terminal);
  using sweeper = new Sweeper({ store: place.store });
  sweeper.start();
  // Standard output is the protocol's.
  const onError = (error: unknown) =>
    void process.stderr.write(`bursar: ${harmless(String((error as Error)?.stack ?? error))}\n`);
  const session = textOf(flags, "session");
  const settings: McpSettings = {
    ...(await mcpSettings({
      commandLine: (name, id) => command(name, id, flags, null),
      place,
      equipment,
      bursar,
      onError,
    })),
    limits,
    parent: await parentOf(flags, place),
    mayInstall: flags.install === true,
    ...(session !== undefined && { session }),
  };
  // An agent is somebody else than the person it works for, so that it has no hand in what that person has started.
  const principal: Principal = role === "operator" ? human : { name: `agent of ${human.name}`, role: "agent" };
  await using connection = openMcp({ ...settings, principal, human: flags.unattended === true ? null : human });
  // What cannot be read has nobody to be answered to, and may close the connection: whoever set the client up looks here.
  connection.server.server.onerror = ({ message }) =>
    void process.stderr.write(`bursar: trouble with the client: ${harmless(message.slice(0, 200))}\n`);
  const transport = new StdioServerTransport();
  const over = new Promise<void>((resolve) => {
    connection.server.server.onclose = resolve;
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
    terminal.signal.addEventListener("abort", () => resolve(), { once: true });
    // It may have been stopped while it started.
    if (terminal.signal.aborted) resolve();
  });
  await connection.server.connect(transport);
  await over;
  return { report: null, text: "" };
}

const ALONE =
  "bursar: this speaks a protocol on standard input, for a client that starts it; see `bursar mcp --setup claude-code`. Ctrl-C ends it.";

async function parentOf(flags: Given, { store }: Place): Promise<string | null> {
  const session = textOf(flags, "session");
  if (session === undefined) return null;
  const budget = sessionBudget(session);
  if ((await store.budget(budget)) !== null) return budget;
  throw new CommandError(
    `the session ${harmless(session.slice(0, 80))} is not open; \`bursar run --session\` opens one`,
  );
}

function roleOf(flags: Given): "agent" | "operator" {
  const role = textOf(flags, "role") ?? "agent";
  if (role === "agent" || role === "operator") return role;
  throw new UsageError(unknown(`the role ${role.slice(0, 40)}`, role, ["agent", "operator"]));
}

/** What is not named keeps its default: a connection without any limit would be none of ours. */
function budgetOf(flags: Given): BudgetLimits {
  const text = textOf(flags, "budget");
  return text === undefined ? CODE_LIMITS : { ...CODE_LIMITS, ...limitsOf(text, "--budget") };
}

function setupText(client: string, args: readonly string[]): string {
  const found = CLIENTS.find((each) => each === client);
  if (found === undefined) throw new UsageError(unknown(`the client ${client.slice(0, 40)}`, client, [...CLIENTS]));
  const [node = "node", script = ""] = process.argv;
  return setupFor(found, args, [node, script]);
}

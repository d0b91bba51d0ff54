import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { isActing, isDeciding } from "../app/roles.js";
import { offerBudgets } from "./budget-tools.js";
import { offerCode } from "./code-tools.js";
import { offerDecisions } from "./decision-tools.js";
import type { Driving } from "./driving.js";
import { offerEstimate } from "./estimate-tool.js";
import { offerFiles } from "./file-tool.js";
import { limitsText } from "./left.js";
import type { McpSettings, Peer } from "./options.js";
import { offerPackages } from "./package-tool.js";
import { offerPrompts } from "./prompts.js";
import { offerResources } from "./resources.js";
import { offerRuns, offerStatus } from "./run-tools.js";
import { offering } from "./said.js";
import { Subscriptions } from "./subscriptions.js";
import { warning } from "./warnings.js";
import { Workplace } from "./workplace.js";

export interface McpOptions extends McpSettings, Peer {
  /** Where its code is executed: one of its own, which ends with the connection, unless one is given. */
  readonly workplace?: Workplace;
}

/** One client's connection; whoever disposes of it ends what belongs to it alone. */
export interface McpConnection extends AsyncDisposable {
  readonly server: McpServer;
}

/** A call with more parts than this is no honest one. */
const MOST_ELEMENTS = 100_000;

/** Opens the server's end of one connection. What it offers depends on who is at the other end. */
export function openMcp(options: McpOptions): McpConnection {
  const { principal, human, workplace: given, ...settings } = options;
  const { store } = settings.bursar;
  const own = given === undefined && isActing(principal) ? workplaceFor(settings, principal.name) : null;
  const workplace = isActing(principal) ? (given ?? own) : null;
  const server = new McpServer(
    { name: "bursar", title: "Bursar: hard budgets for AI agents", version: settings.version },
    {
      capabilities: { logging: {}, completions: {} },
      instructions: instructionsFor(options, workplace),
      maxToolInputElements: MOST_ELEMENTS,
    },
  );
  const offer = offering(server, settings.onError ?? (() => {}));
  const driving: Driving = { server, settings, peer: { principal, human } };
  const warn = warning(server);
  if (workplace !== null) {
    offerCode(offer, workplace, warn);
    offerFiles(offer, workplace);
    offerPackages(offer, settings, driving.peer, workplace);
    offerRuns(offer, driving, workplace);
    offerEstimate(offer, driving);
  }
  offerStatus(offer, driving);
  offerBudgets(offer, driving, workplace);
  if (isDeciding(principal)) offerDecisions(offer, driving);
  offerResources(server, store, workplace);
  offerPrompts(server, store, driving.peer, workplace);
  const subscriptions = new Subscriptions(server, store);
  return {
    server,
    async [Symbol.asyncDispose]() {
      subscriptions[Symbol.dispose]();
      await server.close();
      await own?.[Symbol.asyncDispose]();
    },
  };
}

/** A workplace with a budget of its own in the store. */
export function workplaceFor(settings: McpSettings, name: string): Workplace {
  const { bursar, sandbox, packagesFolder, limits, parent = null } = settings;
  const { instant } = bursar.store.clock.now();
  const id = `mcp:${name}:${instant.toString(36)}${crypto.randomUUID().slice(0, 8)}`;
  return new Workplace({
    store: bursar.store,
    sandbox,
    packagesFolder,
    name: id,
    parent,
    ...(limits !== undefined && { limits }),
  });
}

function instructionsFor({ principal, human }: McpOptions, workplace: Workplace | null): string {
  const code =
    workplace === null
      ? "You may look at runs and budgets, and do nothing else."
      : `You may execute code and start runs with budgets of their own; this connection may use: ${limitsText(workplace.limits)} ` +
        "(each run that you start is one of subcalls). " +
        "What does not fit into a budget is refused before it is done, and stays refused until a person extends the budget.";
  const deciding = isDeciding(principal)
    ? "You act for an operator: budget_approve and budget_deny decide in his name, so decide nothing that he has not told you to."
    : "You cannot extend a budget or approve a request. Ask with budget_request_extension; " +
      (human === null ? "tell the user where to answer." : "the person at this client may be asked right here.");
  return `Bursar keeps agents inside hard budgets. ${code} ${deciding}`;
}

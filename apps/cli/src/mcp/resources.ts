import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type ErrorCode, McpError, type ReadResourceResult } from "@modelcontextprotocol/sdk/types.js";
import { Events, type Store } from "bursar";
import { chainPage, heldIn, listRuns, runView } from "bursar/views";
import type { Workplace } from "./workplace.js";

/** What is kept of a store as a resource, and by which id. */
export type Place = { readonly kind: "run" | "chain" | "budget"; readonly id: string };

const SHOWN_RUNS = 50;
/** So many links are given at once; the command line and the web page show longer chains. */
const MOST_LINKS = 1000;
const LONGEST_ID = 300;

const TEMPLATES = {
  run: "bursar://runs/{id}",
  chain: "bursar://runs/{id}/chain",
  budget: "bursar://budgets/{id}",
} as const;

function uriOf({ kind, id }: Place): string {
  return TEMPLATES[kind].replace("{id}", encodeURIComponent(id));
}

/** What an address means, or null. */
export function placeOf(uri: string): Place | null {
  const [, runs, run, chain] = /^bursar:\/\/(runs|budgets)\/([^/?#]{1,900})(\/chain)?$/.exec(uri) ?? [];
  if (run === undefined || (runs === "budgets" && chain !== undefined)) return null;
  const id = decoded(run);
  if (id === null || id.length > LONGEST_ID) return null;
  return { kind: runs === "budgets" ? "budget" : chain === undefined ? "run" : "chain", id };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Offers runs, their chains and budgets as resources. */
export function offerResources(server: McpServer, store: Store, workplace: Workplace | null): void {
  const complete = { id: (value: string) => runIds(store, value) };
  const rows = async (kind: "run" | "chain") => {
    const { items } = await listRuns(store, { limit: SHOWN_RUNS });
    return items.map(({ id, program, status }) => ({
      ...{ uri: uriOf({ kind, id }), name: kind === "run" ? id : `${id} (chain)` },
      description: kind === "run" ? `${program.name}, ${status}` : `everything that happened in run ${id}`,
    }));
  };
  const runs = new ResourceTemplate(TEMPLATES.run, { list: async () => ({ resources: await rows("run") }), complete });
  const description = "A run as JSON: status, budgets, usage, output, result, what it waits for.";
  server.registerResource("run", runs, { title: "Run", description, mimeType: JSON_TYPE }, (uri) => read(store, uri));
  const chains = new ResourceTemplate(TEMPLATES.chain, {
    list: async () => ({ resources: await rows("chain") }),
    complete,
  });
  const about = `The links of a run's chain as JSON lines, exactly as they were hashed; the first ${MOST_LINKS}.`;
  server.registerResource(
    "chain",
    chains,
    { title: "Chain of a run", description: about, mimeType: LINES_TYPE },
    (uri) => read(store, uri),
  );
  const budgets = new ResourceTemplate(TEMPLATES.budget, {
    list: async () => ({ resources: workplace === null ? [] : [ownBudget(workplace)] }),
  });
  const limits = "A budget as JSON: limits, usage, what is held, what remains, and those above it.";
  server.registerResource(
    "budget",
    budgets,
    { title: "Budget", description: limits, mimeType: JSON_TYPE },
    async (uri) => {
      if (placeOf(uri.href)?.id === workplace?.budgetId) await workplace?.budget();
      return read(store, uri);
    },
  );
}

const JSON_TYPE = "application/json";
const LINES_TYPE = "application/jsonl";

function ownBudget({ budgetId }: Workplace) {
  const description = "What pays for the code of this connection.";
  return { uri: uriOf({ kind: "budget", id: budgetId }), name: budgetId, description };
}

/** The runs whose ids begin so, newest first. */
export async function runIds(store: Store, beginning: string): Promise<string[]> {
  const { items } = await listRuns(store, { limit: SHOWN_RUNS });
  return items.map(({ id }) => id).filter((id) => id.startsWith(beginning));
}

async function read(store: Store, { href: uri }: URL): Promise<ReadResourceResult> {
  const place = placeOf(uri);
  const text = place === null ? null : await READERS[place.kind](store, place.id);
  if (text === null || place === null) {
    throw new McpError(RESOURCE_NOT_FOUND, `There is no ${uri.slice(0, 200)}; resources/list names what there is`, {
      uri,
    });
  }
  return { contents: [{ uri, mimeType: place.kind === "chain" ? LINES_TYPE : JSON_TYPE, text }] };
}

/** As the specification of resources has it. */
const RESOURCE_NOT_FOUND = -32002 as ErrorCode;

const READERS: Readonly<Record<Place["kind"], (store: Store, id: string) => Promise<string | null>>> = {
  async run(store, id) {
    const view = await runView(store, id);
    return view === null ? null : JSON.stringify(view);
  },
  async chain(store, id) {
    const view = await runView(store, id);
    if (view === null) return null;
    const { lines } = await chainPage(store, view, 0, MOST_LINKS);
    return lines.map((line) => `${line}\n`).join("");
  },
  async budget(store, id) {
    const path = await store.path(id);
    if (path.length === 0) return null;
    const events = new Events(store.dimensions);
    const time = store.clock.now();
    const budgets = path.map((budget) => ({
      ...{ budget_id: budget.id, limits: events.limits(budget), used: events.consumed(budget, time) },
      ...{
        held: heldIn(budget, store.dimensions),
        remaining: events.remaining(budget, time),
        exhausted: budget.exhausted,
      },
    }));
    return JSON.stringify({ budgets });
  },
};

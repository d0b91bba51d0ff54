import { type ListResourcesCallback, type McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type ErrorCode, McpError, type ReadResourceResult } from "@modelcontextprotocol/sdk/types.js";
import { Events, readRun, type Store } from "bursar";
import { budgetChain, chainPage, heldIn, listRuns, runView } from "bursar/views";
import type { Workplace } from "./workplace.js";

/** What is kept of a store as a resource, and by which id. */
export interface Place {
  readonly kind: "run" | "chain" | "budget" | "budget_chain";
  readonly id: string;
  /** Where to begin, in chains. */
  readonly from: number;
}

const SHOWN_RUNS = 50;
/** So many links are given at once, and where the rest begins. */
const MOST_LINKS = 1000;
const LONGEST_ID = 300;

const TEMPLATES = {
  run: "bursar://runs/{id}",
  chain: "bursar://runs/{id}/chain",
  budget: "bursar://budgets/{id}",
  budget_chain: "bursar://budgets/{id}/chain",
} as const;

function uriOf(kind: Place["kind"], id: string): string {
  return TEMPLATES[kind].replace("{id}", encodeURIComponent(id));
}

const ADDRESS = /^bursar:\/\/(runs|budgets)\/([^/?#]{1,900})(\/chain(?:\?from=(\d{1,15}))?)?$/;

/** What an address means, or null. */
export function placeOf(uri: string): Place | null {
  const [, rooms, name, chain, from = "0"] = ADDRESS.exec(uri) ?? [];
  const id = name === undefined ? null : decoded(name);
  if (id === null || id.length > LONGEST_ID) return null;
  const kinds = rooms === "runs" ? (["run", "chain"] as const) : (["budget", "budget_chain"] as const);
  return { kind: kinds[chain === undefined ? 0 : 1], id, from: Number(from) };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Offers runs, budgets and the chains of both as resources. */
export function offerResources(server: McpServer, store: Store, workplace: Workplace | null): void {
  const complete = { id: (value: string) => runIds(store, value) };
  const rows = async (kind: "run" | "chain") => {
    const { items } = await listRuns(store, { limit: SHOWN_RUNS });
    return items.map(({ id, program, status }) => ({
      uri: uriOf(kind, id),
      name: kind === "run" ? id : `${id} (chain)`,
      description: kind === "run" ? `${program.name}, ${status}` : `everything that happened in run ${id}`,
    }));
  };
  const own = (kind: "budget" | "budget_chain") => (workplace === null ? [] : [ownBudget(workplace, kind)]);
  const seen = async (uri: URL) => {
    if (placeOf(uri.href)?.id === workplace?.budgetId) await workplace?.budget();
    return read(store, uri);
  };
  const runs = new ResourceTemplate(TEMPLATES.run, { list: async () => ({ resources: await rows("run") }), complete });
  const description = "A run as JSON: status, budgets, usage, output, result, what it waits for.";
  server.registerResource("run", runs, { title: "Run", description, mimeType: JSON_TYPE }, seen);
  const chains = { list: async () => ({ resources: await rows("chain") }), complete };
  offerChain(server, "chain", { ...chains, about: "a run's chain", read: seen });
  const budgets = new ResourceTemplate(TEMPLATES.budget, { list: () => ({ resources: own("budget") }) });
  const limits = "A budget as JSON: limits, usage, what is held, what remains, and those above it.";
  server.registerResource("budget", budgets, { title: "Budget", description: limits, mimeType: JSON_TYPE }, seen);
  const list = () => ({ resources: own("budget_chain") });
  offerChain(server, "budget_chain", { list, about: "the chain that a budget writes into", read: seen });
}

interface OfferedChain {
  readonly list: ListResourcesCallback;
  readonly complete?: Readonly<Record<string, (value: string) => Promise<string[]>>>;
  readonly about: string;
  readonly read: (uri: URL) => Promise<ReadResourceResult>;
}

/** A template with a query does not fit an address without one, so there are two. */
function offerChain(
  server: McpServer,
  kind: "chain" | "budget_chain",
  { list, complete = {}, about, read: seen }: OfferedChain,
): void {
  const title = kind === "chain" ? "Chain of a run" : "Chain of a budget";
  const description = `The links of ${about} as JSON lines, exactly as they were hashed; the first ${MOST_LINKS}.`;
  const first = new ResourceTemplate(TEMPLATES[kind], { list, complete });
  server.registerResource(kind, first, { title, description, mimeType: LINES_TYPE }, seen);
  const later = new ResourceTemplate(`${TEMPLATES[kind]}{?from}`, { list: undefined, complete });
  const more = `The same from a link on, counted from 0: ${MOST_LINKS} at most.`;
  server.registerResource(
    `${kind}_from`,
    later,
    { title: `${title}, further on`, description: more, mimeType: LINES_TYPE },
    seen,
  );
}

const JSON_TYPE = "application/json";
const LINES_TYPE = "application/jsonl";

function ownBudget({ budgetId }: Workplace, kind: "budget" | "budget_chain") {
  const isChain = kind === "budget_chain";
  const description = isChain
    ? "Everything that was charged for the code of this connection."
    : "What pays for the code of this connection.";
  return { uri: uriOf(kind, budgetId), name: isChain ? `${budgetId} (chain)` : budgetId, description };
}

/** The runs whose ids begin so, newest first. */
export async function runIds(store: Store, beginning: string): Promise<string[]> {
  const { items } = await listRuns(store, { limit: SHOWN_RUNS });
  return items.map(({ id }) => id).filter((id) => id.startsWith(beginning));
}

async function read(store: Store, { href: uri }: URL): Promise<ReadResourceResult> {
  const place = placeOf(uri);
  const contents = place === null ? null : await READERS[place.kind](store, place, uri);
  if (contents === null) {
    throw new McpError(RESOURCE_NOT_FOUND, `There is no ${uri.slice(0, 200)}; resources/list names what there is`, {
      uri,
    });
  }
  return { contents: [...contents] };
}

/** As the specification of resources has it. */
const RESOURCE_NOT_FOUND = -32002 as ErrorCode;

type Contents = ReadResourceResult["contents"];
type Reader = (store: Store, place: Place, uri: string) => Promise<Contents | null>;

const READERS: Readonly<Record<Place["kind"], Reader>> = {
  async run(store, { id }, uri) {
    const view = await runView(store, id);
    return view === null ? null : [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(view) }];
  },
  async chain(store, { id, from }, uri) {
    const run = await store.document("run", id);
    return run === null ? null : linesOf(store, readRun(run).budget, from, uri);
  },
  async budget(store, { id }, uri) {
    const path = await store.path(id);
    if (path.length === 0) return null;
    const events = new Events(store.dimensions);
    const time = store.clock.now();
    const budgets = path.map((budget) => ({
      budget_id: budget.id,
      limits: events.limits(budget),
      used: events.consumed(budget, time),

      held: heldIn(budget, store.dimensions),
      remaining: events.remaining(budget, time),
      exhausted: budget.exhausted,
    }));
    return [{ uri, mimeType: JSON_TYPE, text: JSON.stringify({ budgets }) }];
  },
  async budget_chain(store, { id, from }, uri) {
    const chain = await budgetChain(store, id);
    return chain === null ? null : linesOf(store, chain, from, uri);
  },
};

/** Links, and apart from them, because they are to be verified as they are, where the rest begins. */
async function linesOf(store: Store, budget: string, from: number, uri: string): Promise<Contents> {
  const { lines, head, next } = await chainPage(store, { budget }, from, MOST_LINKS);
  const links = {
    uri,
    mimeType: LINES_TYPE,
    text: lines.map((line) => `${line}\n`).join(""),
    _meta: { "bursar/head": head, "bursar/next": next },
  };
  if (next === null || head === null) return [links];
  const rest = `${uri.replace(/\?.*$/, "")}?from=${next}`;
  const text = `These are links ${from} to ${next - 1} of ${head.seq + 1}; read ${rest} for those that follow.`;
  return [links, { uri: rest, mimeType: "text/plain", text }];
}

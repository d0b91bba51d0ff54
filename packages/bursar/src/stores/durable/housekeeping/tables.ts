/** A table as it is exported: its columns in order, and whether each holds text or a number, and whether it may be empty. */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, "text" | "number" | "text?" | "number?">>;
  readonly order: string;
}

const document = {
  columns: { id: "text", budget: "text?", status: "text", body: "text", version: "number", seq: "number" },
  order: "id",
} as const;

/** Everything a store keeps. The numbers of journal entries are the engine's own: their order is kept, and they are made anew. */
export const ALL_TABLES: readonly Table[] = [
  {
    name: "budgets",
    columns: { id: "text", parent: "text?", chain: "text", origin: "text", terms: "text" },
    order: "id",
  },
  { name: "states", columns: { id: "text", state: "text", ended: "number", version: "number" }, order: "id" },
  {
    name: "calls",
    columns: {
      id: "text",
      budget: "text",
      kind: "text",
      status: "text",
      expires: "number?",
      body: "text",
      version: "number",
    },
    order: "id",
  },
  { name: "links", columns: { chain: "text", seq: "number", lines: "text" }, order: "chain, seq" },
  {
    name: "heads",
    columns: { chain: "text", seq: "number", hash: "text", grown: "number", archived: "text?" },
    order: "chain",
  },
  { name: "journal", columns: { run: "text", key: "text", entry: "text" }, order: "seq" },
  { name: "runs", ...document },
  { name: "approvals", ...document },
  { name: "sessions", ...document },
  { name: "leases", ...document },
  { name: "keys", ...document },
  { name: "tokens", ...document },
  { name: "histories", ...document },
  { name: "batches", ...document },
];

import type { JsonSchemaKeywords } from "../json-schema/json-schema.js";
import { ROLES } from "./tokens.js";

/** The JSON Schema of something that goes over the wire. One and the same validates requests and describes the API. */
export interface WireSchema extends JsonSchemaKeywords {
  readonly properties?: Readonly<Record<string, WireSchema>>;
  readonly items?: WireSchema;
  readonly anyOf?: readonly WireSchema[];
  readonly additionalProperties?: boolean | WireSchema;
}

// What goes over the wire, as `views/shapes.ts` has it. Every answer that the tests get is held against these.

export const TEXT: WireSchema = { type: "string" };
const NUMBER: WireSchema = { type: "number" };
const COUNT: WireSchema = { type: "integer", minimum: 0 };
const INSTANT: WireSchema = { type: "number", description: "Milliseconds since 1970." };
export const FLAG: WireSchema = { type: "boolean" };
export const ANYTHING: WireSchema = {};
export const JSON_OBJECT: WireSchema = { type: "object" };
const HELD: WireSchema = { type: "object", description: "What is reserved, by dimension: neither used nor free." };

/** Everything that is not named as optional is always there. */
export function object(properties: Readonly<Record<string, WireSchema>>, optional: readonly string[] = []): WireSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

/** An object from outside: what is not known is refused. */
export function input(properties: Readonly<Record<string, WireSchema>>, required: readonly string[] = []): WireSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

export function listOf(items: WireSchema): WireSchema {
  return { type: "array", items };
}

function nullable(schema: WireSchema): WireSchema {
  return typeof schema.type === "string" && schema.properties === undefined && schema.enum === undefined
    ? { ...schema, type: [schema.type, "null"] }
    : { anyOf: [schema, { type: "null" }] };
}

export function oneOf(words: readonly string[]): WireSchema {
  return { type: "string", enum: words };
}

export function pageOf(items: WireSchema): WireSchema {
  return object({ items: listOf(items), next: nullable(TEXT) });
}

export const RUN_STATUS: WireSchema = oneOf(["queued", "running", "paused", "completed", "failed", "cancelled"]);
export const APPROVAL_STATUS: WireSchema = oneOf(["pending", "approved", "denied", "expired", "withdrawn"]);
export const ROLE: WireSchema = oneOf(ROLES);

const DIMENSION = {
  dimension: TEXT,
  unit: TEXT,
  used: NUMBER,
  held: NUMBER,
  limit: NUMBER,
  policy: TEXT,
  thresholds: listOf(NUMBER),
  exhausted_at: nullable(INSTANT),
};
const DimensionView = object(DIMENSION);
const SOURCE = oneOf(["program", "history", "model"]);
const EXPECTED = { dimension: TEXT, unit: TEXT, median: NUMBER, upper: NUMBER, source: SOURCE };
const ExpectedView = object(EXPECTED);
const PREDICTION = { median: NUMBER, upper: NUMBER };
const EstimateView = object({
  program: TEXT,
  fits: FLAG,
  dimensions: listOf(
    object({
      ...EXPECTED,
      limit: nullable(NUMBER),
      policy: nullable(TEXT),
      missing: NUMBER,
    }),
  ),
  opinions: listOf(
    object({
      source: SOURCE,
      samples: COUNT,
      about: TEXT,
      dimensions: { type: "object", additionalProperties: object(PREDICTION) },
    }),
  ),
  notes: listOf(TEXT),
});
const BudgetView = object({
  budget: TEXT,
  owner: oneOf(["run", "session", "tenant", "shared", "parent"]),
  dimensions: listOf(DimensionView),
});
const ApprovalView = object({
  id: TEXT,
  status: APPROVAL_STATUS,
  kind: oneOf(["budget_extension", "capability_execution", "server_discovery"]),
  run: nullable(TEXT),
  program: nullable(TEXT),
  budget: nullable(TEXT),
  checkpoint_id: nullable(TEXT),
  exhausted_dimension: nullable(TEXT),
  consumed: JSON_OBJECT,
  held: HELD,
  limits: JSON_OBJECT,
  waiting: listOf(
    object({
      run: nullable(TEXT),
      checkpoint_id: nullable(TEXT),
      name: TEXT,
      digest: TEXT,
      calls: COUNT,
      smallest: NUMBER,
      largest: NUMBER,
      together: NUMBER,
    }),
  ),

  needs: JSON_OBJECT,
  needs_together: JSON_OBJECT,
  left: JSON_OBJECT,
  least_extension: JSON_OBJECT,
  message: TEXT,
  suggested_extension: JSON_OBJECT,
  action: JSON_OBJECT,
  requested: INSTANT,
  expires: INSTANT,
  prediction: nullable(
    object({
      dimensions: listOf(object({ ...EXPECTED, limit: nullable(NUMBER), missing: NUMBER })),
      sources: listOf(object({ source: SOURCE, samples: COUNT, about: TEXT })),
      notes: listOf(TEXT),
    }),
  ),
  decision: nullable(object({ by: TEXT, at: INSTANT, reason: nullable(TEXT), extension: JSON_OBJECT })),
  missing: listOf(TEXT),
});
const EXECUTION = nullable(object({ fuel_analysis: nullable(JSON_OBJECT), error_guidance: nullable(JSON_OBJECT) }));
const ROW = {
  id: TEXT,
  status: RUN_STATUS,
  interrupted: FLAG,
  program: object({ kind: TEXT, name: TEXT }),
  session: nullable(TEXT),
  parent: nullable(TEXT),
  started_by: TEXT,
  created: INSTANT,
  ended: nullable(INSTANT),
  usage: JSON_OBJECT,
  held: HELD,
  tightest: nullable(DimensionView),
  waiting: listOf(TEXT),
  denied: nullable(object({ by: TEXT, reason: nullable(TEXT), dimension: TEXT, approval_id: TEXT })),
};
const RunRow = object(ROW);
const RunView = object({
  ...ROW,
  digest: TEXT,
  budget: TEXT,
  depth: COUNT,
  input: ANYTHING,
  result: ANYTHING,
  terms: {
    type: "object",
    description: "Who set its limits and policies, by dimension; what is absent is as in the table of dimensions.",
    additionalProperties: object({ limit: TEXT, policy: TEXT, not_granted: TEXT }, ["not_granted"]),
  },
  failure: nullable(object({ code: TEXT, message: TEXT, data: JSON_OBJECT, dimension: nullable(TEXT) })),
  cancel: nullable(
    object({ by: TEXT, reason: nullable(TEXT), denied: object({ approval_id: TEXT, dimension: TEXT }) }, ["denied"]),
  ),
  pause: nullable(
    object(
      {
        checkpoint_id: TEXT,
        at: INSTANT,
        approvals: listOf(TEXT),
        requested: listOf(TEXT),
        children: listOf(TEXT),
        batches: listOf(TEXT),
        exhausted_dimension: nullable(TEXT),
        problem: TEXT,
      },
      ["batches", "problem"],
    ),
  ),
  output: object({ stdout: TEXT, stderr: TEXT }),
  execution: EXECUTION,
  budgets: listOf(BudgetView),
  children: listOf(RunRow),
  requests: listOf(ApprovalView),
  steps: COUNT,
  refused: COUNT,
  links: COUNT,
  expected: listOf(ExpectedView),
  outlook: nullable(TEXT),
  saved_usd: NUMBER,
  worker: nullable(object({ name: TEXT, expires: INSTANT })),
  missing: listOf(TEXT),
});
const STEP_STATES = ["in flight", "done", "failed", "interrupted", "refused", "released"];
const StepView = object({
  number: COUNT,
  capability: TEXT,
  state: oneOf(STEP_STATES),
  at: INSTANT,
  duration_ms: nullable(NUMBER),
  used: JSON_OBJECT,
  estimated: FLAG,
  problem: nullable(TEXT),
  execution: EXECUTION,
});
const Overview = object({
  runs: object({ queued: COUNT, running: COUNT, paused: COUNT, completed: COUNT, failed: COUNT, cancelled: COUNT }),
  spending: JSON_OBJECT,
  held: HELD,
  saved_usd: NUMBER,
  waiting: listOf(ApprovalView),
  waiting_count: COUNT,
  recent: listOf(RunRow),
  active: listOf(RunRow),
  active_count: COUNT,
  active_more: FLAG,
});
const Head = object({ chain: TEXT, seq: { type: "integer", minimum: -1 }, hash: TEXT });
const ChainPage = object({ lines: listOf(TEXT), head: nullable(Head), next: nullable(COUNT) });
const KEY = {
  id: TEXT,
  status: oneOf(["active", "revoked"]),
  label: TEXT,
  budget: TEXT,
  created: INSTANT,
  expires: nullable(INSTANT),
  rotating_until: nullable(INSTANT),
};
const Key = object(KEY);
const KeyView = object({
  ...KEY,
  usage: JSON_OBJECT,
  held: HELD,
  saved_usd: NUMBER,
  dimensions: listOf(DimensionView),
});
const Token = object({
  id: TEXT,
  status: oneOf(["active", "revoked"]),
  name: TEXT,
  role: ROLE,
  created: INSTANT,
  expires: nullable(INSTANT),
});
const Failure = object({ error: object({ code: TEXT, message: TEXT, hint: TEXT }) });
const Me = object({ name: TEXT, role: ROLE, login: FLAG });
const Decided = object({ approval: ApprovalView, run: nullable(RunView) });
/** One event of a stream: its name, what stands in its line of data, and where to go on after it, if one can. */
function eventOf(
  names: readonly string[],
  data: WireSchema,
  more: Readonly<Record<string, WireSchema>> = {},
): WireSchema {
  return object({ event: oneOf(names), ...more, data });
}

const LAST_SEEN: WireSchema = {
  type: "string",
  description: "Sent back as `Last-Event-ID`, it is gone on after this one.",
};
const ChangedEvent = eventOf(["changed"], object({ runs: listOf(TEXT), approvals: listOf(TEXT) }));
const LinkEvent = eventOf(["link"], object({ seq: COUNT, line: TEXT }), { id: LAST_SEEN });
const RunEvent = eventOf(["run"], RunView);
const EndEvent: WireSchema = {
  ...eventOf(["dropped", "closing"], object({ reason: TEXT })),
  description: "The last one: the stream is over, and can be opened again.",
};
const SessionBudget = object({ session: TEXT, budget: BudgetView, runs: COUNT, active: COUNT });

type Named =
  | "DimensionView"
  | "BudgetView"
  | "ExpectedView"
  | "EstimateView"
  | "ApprovalView"
  | "RunRow"
  | "RunView"
  | "StepView"
  | "BurnDown"
  | "Overview"
  | "Head"
  | "ChainPage"
  | "Key"
  | "KeyView"
  | "Token"
  | "Failure"
  | "Me"
  | "Decided"
  | "SessionBudget"
  | "ChangedEvent"
  | "LinkEvent"
  | "RunEvent"
  | "EndEvent";

/** By the names under which the description of the API has them. */
export const SCHEMAS: Readonly<Record<Named, WireSchema>> = {
  DimensionView,
  BudgetView,
  ExpectedView,
  EstimateView,
  ApprovalView,
  RunRow,
  RunView,
  StepView,
  Overview,
  Head,
  ChainPage,
  BurnDown: object({ ...DIMENSION, points: listOf(object({ at: INSTANT, used: NUMBER, limit: NUMBER })) }),
  Key,
  KeyView,
  Token,
  Failure,
  Me,
  Decided,
  SessionBudget,
  ChangedEvent,
  LinkEvent,
  RunEvent,
  EndEvent,
};

/** Amounts by dimension, as people write them. */
export const AMOUNTS: WireSchema = { type: "object", additionalProperties: { type: "number" } };
const BUDGET_EXTEND: WireSchema = input({ dimension: TEXT, additional: NUMBER }, ["dimension", "additional"]);
/** Execution hints, which operators alone may give. */
export const HINTS: WireSchema = input({ budget_extend: { anyOf: [BUDGET_EXTEND, listOf(BUDGET_EXTEND)] } });
export const LIMITS: WireSchema = { type: "object", additionalProperties: { type: ["number", "null"] } };
export const POLICIES: WireSchema = {
  type: "object",
  additionalProperties: oneOf(["hard_stop", "approval_required", "soft_warn"]),
};
export const REASON: WireSchema = { type: ["string", "null"], maxLength: 2000 };
export const ID: WireSchema = { type: "string", minLength: 1, maxLength: 1000 };
export const LIMIT: WireSchema = { type: "integer", minimum: 1, maximum: 500, description: "How many at most." };
export const FROM: WireSchema = {
  type: "integer",
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Where to begin.",
};
export const WAIT: WireSchema = {
  type: "integer",
  minimum: 0,
  maximum: 60_000,
  description: "For how many milliseconds to wait until the run stands still or has ended.",
};
export const EXPIRES: WireSchema = {
  type: ["number", "null"],
  description: "An instant that is to come; null for never.",
};

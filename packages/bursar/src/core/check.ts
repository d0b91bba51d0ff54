import { type Amounts, amount, isAmount } from "./amount.js";
import type { JsonObject } from "./chain/canonical.js";
import { checkJson } from "./chain/json-check.js";
import { CHAIN_ID_RULE, isChainId } from "./chain/rules.js";
import type { Grant, Opening } from "./children.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { DOCUMENT_KINDS } from "./document.js";
import { InputError, show } from "./errors.js";
import { readThresholds } from "./input.js";
import type { Operation, PutOperation, ReserveOperation } from "./operation.js";
import { POLICIES, type Policies } from "./policy.js";

const KINDS = ["model", "tool", "code", "child", "lease"];
const OPERATIONS = [
  "open",
  "reserve",
  "commit",
  "release",
  "expire",
  "charge",
  "extend",
  "pause",
  "resume",
  "end",
  "record",
  "put",
  "journal",
  "anchor",
  "look",
];

const WITH_BUDGET = new Set(["reserve", "charge", "extend", "pause", "resume", "end", "record", "put", "look"]);
const WITH_CALL = new Set(["reserve", "commit", "release", "charge"]);

/** Longer names do not fit into every store's index. */
const LONGEST_NAME = 1000;
const NOT_IN_NAMES = /[\p{Cc}\p{Cs}]/u;
/** Some stores cut a text off at the first, and none gives back the second as it was. */
const NOT_IN_TEXTS = /[\0\p{Cs}]/u;

/**
 * Looks at an operation that comes from outside before anything is done with it. Types do not hold at run time, and one
 * negative amount would be a refund.
 */
export function checkOperation(operation: Operation, dimensions: Dimensions): void {
  oneOf(operation?.op, OPERATIONS, "op");
  const { op } = operation;
  checkNames(operation);
  // Most steps are called like their call, which was looked at already.
  if ("step_id" in operation && !isCall(operation)) text(operation.step_id, "step_id", true);
  if ("capability_id" in operation) text(operation.capability_id, "capability_id", true);
  if ("duration_ms" in operation) duration(operation.duration_ms, "duration_ms");
  switch (op) {
    case "open":
      if (operation.parent !== null) word(operation.parent, "parent");
      if (operation.chain !== undefined) name(operation.chain, "chain");
      checkOpening(operation.opening, dimensions);
      break;
    case "reserve":
      checkReserve(operation, dimensions);
      break;
    case "commit":
      amounts(operation.used, "used", dimensions, false);
      if (operation.seen !== undefined) amounts(operation.seen, "seen", dimensions, false);
      if (operation.estimate !== undefined) amounts(operation.estimate, "estimate", dimensions, false);
      break;
    case "charge":
      amounts(operation.used, "used", dimensions, false);
      break;
    case "pause":
      if (operation.at !== undefined) instant(operation.at, "at");
      break;
    case "record":
      if (operation.call !== undefined) word(operation.call, "call");
      object(operation.action, "action");
      text(operation.action.action_type, "action.action_type");
      object(operation.action.data, "action.data");
      ownAction(operation.action);
      break;
    case "extend":
      amounts(operation.additional, "additional", dimensions, true);
      text(operation.approved_by, "approved_by");
      if (operation.reason !== null) text(operation.reason, "reason", true);
      break;
    case "put":
      checkPut(operation);
      break;
    case "journal":
      word(operation.run, "run");
      word(operation.key, "key");
      json(operation.entry, "entry");
      break;
  }
}

function isCall(operation: { readonly step_id?: unknown; readonly call?: unknown }): boolean {
  return operation.step_id === operation.call && operation.call !== undefined;
}

function checkReserve(operation: ReserveOperation, dimensions: Dimensions): void {
  const { kind, asked, least, learned, expires } = operation;
  oneOf(kind, KINDS, "kind");
  amounts(asked, "asked", dimensions, false);
  if (least !== undefined) amounts(least, "least", dimensions, false);
  if (learned !== undefined) amounts(learned, "learned", dimensions, false);
  if (expires !== undefined) instant(expires, "expires");
}

/** What an operation names must be there, whether the caller has left it out or set it to nothing. */
function checkNames(operation: Operation): void {
  const { op } = operation;
  const { budget, call, cause } = operation as { readonly budget?: unknown; readonly call?: unknown; cause?: unknown };
  if ("cause" in operation) word(cause, "cause");
  if (WITH_BUDGET.has(op) && !(op === "put" && budget === null)) word(budget, "budget");
  if (WITH_CALL.has(op)) word(call, "call");
}

function checkPut({ kind, id, status, body, version }: PutOperation): void {
  oneOf(kind, DOCUMENT_KINDS, "kind");
  name(id, "id");
  word(status, "status");
  json(body, "body");
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new InputError("version", `is ${show(version)}; allowed: the version that was read, 0 for a new document`);
  }
}

/** What a store is to keep must be JSON through and through: it would come back as something else otherwise. */
function json(value: JsonObject, field: string): void {
  object(value, field);
  checkJson(value, field, 1);
}

function checkOpening(opening: Opening, dimensions: Dimensions): void {
  object(opening, "opening");
  name(opening.id, "opening.id");
  oneOf(opening.scope, ["run", "shared"], "opening.scope");
  checkGrant(opening.grant, dimensions);
  if (opening.policies !== undefined) policies(opening.policies, "opening.policies", dimensions);
  if (opening.thresholds !== undefined) readThresholds(opening.thresholds, "opening.thresholds");
  if (opening.deadline !== undefined && opening.deadline !== null) instant(opening.deadline, "opening.deadline");
}

function checkGrant(grant: Grant, dimensions: Dimensions): void {
  object(grant, "opening.grant");
  oneOf(grant.kind, ["limits", "fraction", "wrap_up"], "opening.grant.kind");
  if (grant.kind === "limits") amounts(grant.limits, "opening.grant.limits", dimensions, true);
  if (grant.kind === "wrap_up") amounts(grant.amounts, "opening.grant.amounts", dimensions, true);
  if (grant.kind === "fraction" && grant.most !== undefined) {
    amounts(grant.most, "opening.grant.most", dimensions, true);
  }
}

function amounts(value: Amounts, field: string, dimensions: Dimensions, clocks: boolean): void {
  object(value, field);
  for (const id of Object.keys(value)) {
    // To say which field it is takes longer than to look it up.
    const dimension = dimensions.find(id) ?? known(id, field, dimensions);
    if (!clocks && dimension.kind === "clock") {
      throw new InputError(`${field}.${id}`, "is a clock, which runs by itself; leave it out");
    }
    const each = value[id];
    if (!isAmount(each)) amount(each, `${field}.${id}`);
  }
}

function policies(value: Policies, field: string, dimensions: Dimensions): void {
  object(value, field);
  for (const [id, policy] of Object.entries(value)) {
    known(id, field, dimensions);
    oneOf(policy, POLICIES, `${field}.${id}`);
  }
}

/** Other names are for the edges, where `readLimits` and its like map them; in here a name that is not the id is lost. */
function known(id: string, field: string, dimensions: Dimensions): Dimension {
  const dimension = dimensions.resolve(id, `${field}.${id}`);
  if (dimension.id !== id) throw new InputError(`${field}.${id}`, `is another name of ${dimension.id}; use that here`);
  return dimension;
}

function object(value: unknown, field: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError(field, `is ${show(value)}; allowed: an object`);
  }
}

function text(value: unknown, field: string, empty = false): void {
  if (typeof value !== "string" || (value === "" && !empty)) {
    throw new InputError(field, `is ${show(value)}; allowed: a text`);
  }
  if (NOT_IN_TEXTS.test(value)) throw new InputError(field, "holds a NUL or half a character; allowed: any other text");
}

/** A text by which something is found again: stores must neither cut it nor take it for another. */
function word(value: unknown, field: string): void {
  // Nothing that a name may hold is forbidden in a text, so that one look is enough.
  const isName = typeof value === "string" && value.length <= LONGEST_NAME && !NOT_IN_NAMES.test(value);
  if (isName && value !== "") return;
  text(value, field);
  const rule = `a text of at most ${LONGEST_NAME} characters, without line breaks and other control characters`;
  throw new InputError(field, `is ${show(value)}; allowed: ${rule}`);
}

/** A budget may give its name to a chain, so both follow the same rule. */
function name(value: unknown, field: string): void {
  if (!isChainId(value)) throw new InputError(field, `is ${show(value)}; it ${CHAIN_ID_RULE}`);
}

function instant(value: unknown, field: string): void {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new InputError(field, `is ${show(value)}; allowed: a number of milliseconds`);
  }
}

function duration(value: unknown, field: string): void {
  instant(value, field);
  if ((value as number) < 0) throw new InputError(field, `is ${show(value)}; allowed: 0 or more milliseconds`);
}

function oneOf(value: unknown, known: readonly string[], field: string): void {
  if (typeof value !== "string" || !known.includes(value)) {
    throw new InputError(field, `is ${show(value)}; allowed: ${known.join(", ")}`);
  }
}

/** What the ledger records of its own doing. Nobody else may write it: a check rebuilds the books from these links. */
const LEDGER_EVENTS = ["Allocation", "Consumption", "Warning", "Exhausted", "Extended", "RunCompleted"];
const LEDGER_ACTIONS = ["StepStarted", "StepReleased", "ClockPaused", "ClockResumed"];

function ownAction({ action_type, event }: { readonly action_type: string; readonly event?: string }): void {
  const name = event ?? action_type;
  if (!(event === undefined ? LEDGER_ACTIONS : LEDGER_EVENTS).includes(name)) return;
  throw new InputError("action", `is ${show(name)}, which the ledger itself writes; give the action another name`);
}

import type { OutgoingHttpHeaders } from "node:http";
import { StaleError } from "../core/document.js";
import { BursarError, InputError, LedgerError } from "../core/errors.js";
import { NoRoomError, RefusedError } from "../core/refused.js";

interface Told {
  readonly code: string;
  readonly message: string;
  /** What the reader can do now. */
  readonly hint: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** Something that a client is answered with in place of what it asked for. */
export class HttpError extends BursarError {
  override readonly name: string = "HttpError";
  readonly status: number;
  readonly hint: string;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, { code, message, hint, headers = {} }: Told) {
    super(code, message);
    this.status = status;
    this.hint = hint;
    this.headers = headers;
  }
}

const EXTEND = "POST /api/v1/budgets/:id/extend";
/** For whoever finds a session exhausted: its budget is no run's. */
export const EXTEND_SESSION: string = `extend the session first, with ${EXTEND}; its budget's id is session:<name>`;
const READ_AGAIN = "read it again, and decide anew";

/** What the codes of our own errors mean to a client. */
const KNOWN: Readonly<Record<string, readonly [status: number, hint: string]>> = {
  forbidden: [403, "use a token of a role that may, or ask somebody who has one"],
  no_such_approval: [404, "GET /api/v1/approvals lists those there are"],
  decided: [409, "GET /api/v1/approvals/:id tells who decided, and how"],
  not_open: [409, "GET /api/v1/approvals lists what is asked now; read it, and name the request"],
  too_little: [422, "ask for at least what the message says; GET /api/v1/approvals/:id has it as least_extension"],
  ambiguous: [409, "GET /api/v1/approvals lists what is asked now; name the request by its own id"],
  expired: [410, "POST /api/v1/runs/:id/resume lets the run ask anew"],
  no_run: [409, "it was decided, and nothing is driven"],
  no_room: [409, `extend the budget that has no room first, with ${EXTEND}, or ask for less`],
  no_such_key: [404, "GET /api/v1/keys lists those there are"],
  key_revoked: [409, "make another key with POST /api/v1/keys"],
  no_such_token: [404, "GET /api/v1/tokens lists those there are"],
  token_revoked: [409, "make another token with POST /api/v1/tokens"],
  name_taken: [409, "revoke the token of that name first, or take another name"],
  too_many_tokens: [409, "revoke tokens that nobody needs"],
  unwritable: [400, "send JSON whose texts can be written down"],
  invalid_plan: [400, "correct the plan where the message points; docs/PLANS.md tells how plans are written"],
  unknown_program: [404, "GET /api/v1/programs lists those there are"],
  exhausted: [409, EXTEND_SESSION],
  claim_lost: [409, READ_AGAIN],
  program_changed: [409, 'bring the old program back, or allow the changed one with {"replay_changed": true}'],
  not_equipped: [409, "a worker that has what is missing goes on with it"],
  guest_unavailable: [409, "a worker that has the sandbox goes on with it"],
  store_archived: [410, "its lines are in the file that the message names, or were dropped by a store in memory"],
};

/** An error as a client is told of it; null for faults of our own, of which it learns nothing but that there was one. */
export function httpErrorOf(error: unknown): HttpError | null {
  if (error instanceof HttpError) return error;
  if (!(error instanceof BursarError)) return null;
  const { code, message } = error;
  if (error instanceof InputError) {
    return new HttpError(400, { code, message, hint: `correct ${error.field}; /openapi.json tells what is taken` });
  }
  const known = KNOWN[code];
  if (known !== undefined) return new HttpError(known[0], { code, message, hint: known[1] });
  if (error instanceof StaleError) {
    return new HttpError(409, { code, message, hint: READ_AGAIN });
  }
  if (error instanceof LedgerError || error instanceof NoRoomError || error instanceof RefusedError) {
    return new HttpError(409, { code, message, hint: "look at the budget, and at what is left of it" });
  }
  if (code.startsWith("store_")) {
    const hint = "try again in a moment; whoever runs the server is told why";
    return new HttpError(503, { code, message: "the store cannot be used right now", hint });
  }
  return null;
}

/** For what went wrong on the server's own side. */
export const FAILED: HttpError = new HttpError(500, {
  code: "server_failed",
  message: "the server failed",
  hint: "whoever runs it is told why",
});

export function notThere(what: string, id: string, hint: string): HttpError {
  const message = `there is no ${what} ${JSON.stringify(id.slice(0, 80))}`;
  return new HttpError(404, { code: `no_such_${what}`, message, hint });
}

import { hintFor } from "./hint.js";

/** Something the server refused, or that did not reach it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  /** What the reader can do now. */
  readonly hint: string;

  constructor(status: number, code: string, message: string, hint: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

const TIMEOUT_MS = 30_000;
/** The whole API stands below this; a new version gets a new one. */
export const API = "/api/v1/";

const unauthorized = new Set<() => void>();

/** Tells when the server no longer knows who is asking, so that he can log in again. */
export function onUnauthorized(listener: () => void): () => void {
  unauthorized.add(listener);
  return () => unauthorized.delete(listener);
}

export function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return request<Answer>("GET", path, undefined, signal);
}

export function post<Answer>(path: string, body: object = {}): Promise<Answer> {
  return request<Answer>("POST", path, body);
}

export function remove<Answer>(path: string): Promise<Answer> {
  return request<Answer>("DELETE", path);
}

async function request<Answer>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Answer> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  let text: string;
  try {
    response = await fetch(API + path, {
      method,
      // The server takes a change only when it is sent as JSON, which no foreign page can do without being asked first.
      headers: method === "GET" ? {} : { "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const problem = timeout.aborted ? "The server has not answered in time." : "The server cannot be reached.";
    throw new ApiError(0, "unreachable", problem, "Check that `bursar serve` is running, then try again.");
  }
  if (response.ok) return readAnswer<Answer>(response.status, text);
  const refusal = refusalOf(response.status, text);
  if (response.status === 401 && path !== "login") for (const listener of unauthorized) listener();
  throw refusal;
}

function readAnswer<Answer>(status: number, text: string): Answer {
  if (text === "") return undefined as Answer;
  try {
    return JSON.parse(text) as Answer;
  } catch {
    throw new ApiError(
      status,
      "garbled",
      "The server's answer is not JSON.",
      "Is there a proxy in between? Reload the page.",
    );
  }
}

function refusalOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string; hint?: string | null } };
    return new ApiError(status, error.code, error.message, hintFor(error.code, error.hint ?? ""));
  } catch {
    return new ApiError(status, "refused", `The server answered with status ${status}.`, "Try again in a moment.");
  }
}

/** What can be shown of anything that was thrown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, "unexpected", error instanceof Error ? error.message : String(error), "Reload the page.");
}

import { PREFLIGHT_POLICIES } from "../foresight/preflight.js";
import { checkSessionName } from "../runs/session-name.js";
import { HttpError } from "./http-error.js";
import type { WantedRun } from "./options.js";
import type { Asked } from "./route.js";
import type { WireSchema } from "./schemas.js";
import * as S from "./schemas.js";

const LONGEST_CODE = 1_000_000;

const BROUGHT: WireSchema = S.input(
  { name: S.ID, language: { type: "string", maxLength: 40 }, code: { type: "string", maxLength: LONGEST_CODE } },
  ["name", "language", "code"],
);

/** What is said of a run that is wanted. */
export const WANTED: Readonly<Record<string, WireSchema>> = {
  program: { anyOf: [S.ID, BROUGHT] },
  input: S.ANYTHING,
  limits: S.LIMITS,
  policies: S.POLICIES,
  session: S.ID,
  preflight: S.oneOf(PREFLIGHT_POLICIES),
  hints: S.HINTS,
};

/** The run that a client wants. */
export function wantedIn({ body }: Asked): WantedRun {
  const { input = null, ...rest } = body as unknown as WantedRun;
  if (rest.session !== undefined) checkSessionName(rest.session);
  return { input, ...rest };
}

/** Where no more is set up than the library itself does, programs are known by their names. */
export function nameOf(program: WantedRun["program"]): string {
  if (typeof program === "string") return program;
  const message = "this server takes no programs that are brought along";
  const hint = "start one of GET /api/v1/programs by its name";
  throw new HttpError(400, { code: "no_such_language", message, hint });
}

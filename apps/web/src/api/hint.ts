/** What can be done on the page about what the server refuses, where its own hint is for programs. */
const HINTS: Readonly<Record<string, string>> = {
  no_such_run: "The page Runs shows those there are.",
  no_such_approval: "The page Approvals shows those there are.",
  no_such_session: "The page Sessions shows those there are.",
  no_such_key: "The page Keys shows those there are.",
  no_such_token: "The page Access tokens shows those there are.",
  decided: "The page of the request tells who decided, and how.",
  expired: "Resume the run, and it asks anew.",
  key_revoked: "Make another key.",
  token_revoked: "Make another access token.",
};

/** A hint for whoever looks at the page: he sees no addresses of the API. */
export function hintFor(code: string, hint: string): string {
  const known = HINTS[code];
  if (known !== undefined) return known;
  return hint
    .split("; ")
    .filter((part) => !/\/api\/|\/openapi\.json/.test(part))
    .join("; ");
}

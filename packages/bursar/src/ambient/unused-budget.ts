/** The code of the warning, for `--disable-warning=BURSAR_UNUSED_BUDGET`. */
const CODE = "BURSAR_UNUSED_BUDGET";

// Two copies of this module in one process warn once together.
const KEY = Symbol.for("bursar.unused.1");
const shared = globalThis as { [KEY]?: true };

/** Says once in a process that a budget has ended and no call went through it: most likely a client has the plain `fetch`. */
export function warnUnused(budget: string): void {
  if (shared[KEY] === true) return;
  shared[KEY] = true;
  const detail =
    "Only governed calls are counted. Give your client `fetch: governedFetch()` of bursar/fetch, or wrap its model with " +
    "`govern` of bursar/ai. Calls of other clients are made without any limit. Calls that begin after the function is over are " +
    "refused: await them, or give back what streams.";
  process.emitWarning(`budget ${budget} has ended, and no governed call was made in it; pass fetch: governedFetch()`, {
    type: "BursarWarning",
    code: CODE,
    detail,
  });
}

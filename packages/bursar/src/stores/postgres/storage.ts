/**
 * How rows lie on the disk. A budget's terms never change, so they are kept beside the row and are not copied with every
 * call; and pages keep some room, so that a changed row finds its place beside the old one and no index has to be touched.
 * Nothing depends on these: a server that does not know them can do without.
 */
export const STORAGE: readonly string[] = [
  "ALTER TABLE budgets ALTER COLUMN terms SET STORAGE EXTERNAL",
  "ALTER TABLE budgets ALTER COLUMN state SET STORAGE MAIN",
  "ALTER TABLE budgets SET (toast_tuple_target = 768, fillfactor = 50)",
  "ALTER TABLE heads SET (fillfactor = 50)",
];

/** Who has written documents and entries, for a while: whoever lost the answer finds out here whether it was he. */
export const PLANS: readonly string[] = [
  "CREATE TABLE plans (token UUID PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT now())",
  "CREATE INDEX plans_at ON plans (at)",
];

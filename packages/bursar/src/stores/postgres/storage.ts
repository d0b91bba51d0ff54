/**
 * How rows lie on the disk. Pages keep some room, so that a changed row finds its place beside the old one and no index has
 * to be touched. Nothing depends on these: a server that does not know them can do without.
 */
export const STORAGE: readonly string[] = [
  "ALTER TABLE states SET (fillfactor = 50)",
  "ALTER TABLE heads SET (fillfactor = 50)",
];

/** Who has written documents and entries, for a while: whoever lost the answer finds out here whether it was he. */
export const PLANS: readonly string[] = [
  "CREATE TABLE plans (token UUID PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT now())",
  "CREATE INDEX plans_at ON plans (at)",
];

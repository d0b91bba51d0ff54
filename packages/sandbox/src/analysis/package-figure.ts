/** From the least to the most fuel that was measured. */
export interface FuelRange {
  readonly least: number;
  readonly most: number;
}

/** What is known about a package that sessions can mount. */
export interface PackageFigure {
  /** As it is installed, such as `python-dateutil`. */
  readonly name: string;
  /** As code imports it, such as `dateutil`; the first one is the usual one. */
  readonly modules: readonly [string, ...string[]];
  /** Names of packages that it imports itself: their cost is part of its own. */
  readonly needs: readonly string[];
  /** What the first import in a session consumes; null until it has been measured. */
  readonly first: FuelRange | null;
  /** What an import consumes when the session has the module already; null until it has been measured. */
  readonly cached: FuelRange | null;
}

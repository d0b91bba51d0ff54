/** A PostgreSQL server of a test's own. */
export interface PostgresServer extends AsyncDisposable {
  readonly url: string;
  /** Ends it as a power cut would. */
  crash(): Promise<void>;
  start(): Promise<void>;
}

export function startPostgres(options?: {
  readonly port?: number;
  readonly flags?: readonly string[];
}): Promise<PostgresServer>;
export function reachableTemporaryFolder(): string;
export function closedFolder(path: string): string | null;
export function freePort(): Promise<number>;

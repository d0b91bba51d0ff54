import { startPostgres } from "../../../test/postgres/server.mjs";

/** A PostgreSQL server for the time of a bench, as it comes, with every commit synced; or the one in `DATABASE_URL`. */
export async function startServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== "") return { url: given, [Symbol.asyncDispose]: async () => {} };
  return startPostgres();
}

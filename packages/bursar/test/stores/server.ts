import { startPostgres } from "../../../../test/postgres/server.mjs";

/** The server of `DATABASE_URL`, if there is one, else one of the test's own. */
export async function givenServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const url = process.env.DATABASE_URL;
  return url === undefined || url === "" ? startPostgres() : { url, [Symbol.asyncDispose]: async () => {} };
}

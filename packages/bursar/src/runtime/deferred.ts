/** A promise that somebody else settles. Node 20 has no `Promise.withResolvers` yet. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

export function deferred<Value>(): Deferred<Value> {
  let settle: Omit<Deferred<Value>, "promise"> | null = null;
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The executor has run by now.
  return { promise, ...(settle as unknown as Omit<Deferred<Value>, "promise">) };
}

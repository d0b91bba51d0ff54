import type { ComponentChildren, JSX } from "preact";
import type { ApiError } from "../api/client.js";
import type { Resource } from "../api/resource.js";

export function Loading({ what }: { readonly what: string }): JSX.Element {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      Loading {what} …
    </p>
  );
}

/** Nothing there, and how there would be something. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

interface ProblemProps {
  readonly error: ApiError;
  readonly retry?: (() => void) | undefined;
}

export function Problem({ error, retry }: ProblemProps): JSX.Element {
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{error.message}</strong>
      </p>
      {error.hint !== "" && <p>{error.hint}</p>}
      {retry !== undefined && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

interface ReadyProps<Value> {
  readonly resource: Resource<Value>;
  readonly what: string;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows what was read, or why it is not there; what is old stays visible beneath the reason why it is. */
export function Ready<Value>({ resource, what, children }: ReadyProps<Value>): JSX.Element {
  const { value, error, reload } = resource;
  return (
    <>
      {error !== null && <Problem error={error} retry={reload} />}
      {value !== null ? children(value) : error === null && <Loading what={what} />}
    </>
  );
}

import type { ComponentChildren, JSX } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { asApiError } from "../api/client.js";
import { Heading } from "./heading.js";
import { Problem } from "./states.js";

/** Keeps a page that cannot be shown from taking everything around it along. */
export function Guarded({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const [error, reset] = useErrorBoundary((thrown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <>
      <Heading title="This page cannot be shown" />
      <Problem error={asApiError(error)} retry={reset} />
    </>
  );
}

import type { JSX } from "preact";
import { formatAgo, formatInstant, isoInstant } from "../format/time.js";
import { useNow } from "./now.js";

/** An instant as a distance from now; the full date is there for whoever points at it. */
export function Instant({ at }: { readonly at: number }): JSX.Element {
  const now = useNow();
  return (
    <time dateTime={isoInstant(at)} title={formatInstant(at)}>
      {formatAgo(at, now)}
    </time>
  );
}

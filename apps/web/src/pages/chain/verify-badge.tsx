import type { JSX } from "preact";
import { Icon } from "../../parts/icon.js";
import type { VerificationState } from "./verification.js";

interface VerifyBadgeProps {
  readonly state: VerificationState;
  /** How many links there are, when that is known. */
  readonly total: number | null;
}

/** What the browser itself has found out about a chain; nobody has to believe the server. */
export function VerifyBadge({ state, total }: VerifyBadgeProps): JSX.Element {
  switch (state.kind) {
    case "idle":
      return <span class="badge">Not verified</span>;
    case "running":
      return (
        <span class="badge" role="status">
          <progress
            {...(total === null ? {} : { value: Math.min(state.links, total), max: Math.max(total, 1) })}
            aria-label="Verifying"
          />
          Verifying {state.links.toLocaleString("en-US")}
          {total === null ? "" : ` of ${total.toLocaleString("en-US")}`} links …
        </span>
      );
    case "failed":
      return (
        <span class="badge badge-bad" role="alert">
          <Icon name="failed" />
          Could not be verified: {state.message}
        </span>
      );
    case "done":
      return <Finished state={state} />;
  }
}

function Finished({ state }: { readonly state: VerificationState & { kind: "done" } }): JSX.Element {
  const { verification } = state;
  if (verification.ok) {
    return (
      <span class="badge badge-good" role="status">
        <Icon name="completed" />
        Verified in this browser: {verification.links.toLocaleString("en-US")} links
      </span>
    );
  }
  return (
    <span class="badge badge-bad" role="alert">
      <Icon name="failed" />
      Not intact. {verification.message}
    </span>
  );
}

import type { JSX } from "preact";
import { feed, useConnection } from "../api/feed.js";
import { useNow } from "../parts/now.js";

/** Says when what is shown may be old. */
export function Banner(): JSX.Element | null {
  const connection = useConnection();
  const now = useNow(1000);
  if (connection !== "lost") return null;
  const wait = feed.retryAt === null ? 0 : Math.max(0, Math.ceil((feed.retryAt - now) / 1000));
  return (
    <div class="banner" role="status">
      <p>
        <strong>Disconnected.</strong> What you see may be old.{" "}
        <span aria-hidden="true">{wait > 0 ? `Next attempt in ${wait} s.` : "Connecting …"}</span>
      </p>
      <button type="button" class="button" onClick={() => feed.reconsider()}>
        Connect now
      </button>
    </div>
  );
}

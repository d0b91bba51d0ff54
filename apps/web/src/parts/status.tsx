import type { JSX } from "preact";
import { Icon, type IconName } from "./icon.js";

const ICONS: Readonly<Record<string, IconName>> = {
  queued: "queued",
  running: "running",
  interrupted: "waiting",
  paused: "paused",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  pending: "waiting",
  approved: "completed",
  denied: "failed",
  expired: "cancelled",
  withdrawn: "cancelled",
  active: "running",
  revoked: "cancelled",
  "in flight": "running",
  done: "completed",
  refused: "cancelled",
  released: "queued",
};

/** Where something stands: a word, a picture and a colour that all say the same. */
export function Status({ status }: { readonly status: string }): JSX.Element {
  return (
    <span class={`status status-${status.replace(" ", "-")}`}>
      <Icon name={ICONS[status] ?? "queued"} />
      {status}
    </span>
  );
}

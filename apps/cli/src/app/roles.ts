import type { Principal } from "bursar";

/** Whether these credentials decide over requests; no run's own do. */
export function isDeciding({ role, run }: Principal): boolean {
  return run === undefined && (role === "operator" || role === "admin");
}

/** Whether these credentials may do anything but look. */
export function isActing({ role }: Principal): boolean {
  return role !== "viewer";
}

import type { Sandbox } from "@bursar/sandbox";
import type { BudgetId, BudgetLimits, Bursar, Preflight, Principal, Program, RunRecord } from "bursar";
import type { BroughtCode } from "../app/equipment/client-program.js";
import type { RunWish } from "../app/runs/start-runs.js";

/** What is the same for all connections of a process. */
export interface McpSettings {
  readonly bursar: Bursar;
  /** Where code is executed; opened when the first code comes. */
  readonly sandbox: () => Promise<Sandbox>;
  /** Where vendored packages are. */
  readonly packagesFolder: string;
  /** Whether packages that are not there may be fetched for an agent. An operator may always have them fetched. */
  readonly mayInstall?: boolean;
  /** What a connection may use in all; what is not named here has no limit. */
  readonly limits?: BudgetLimits;
  /** The budget that those of the connections lie in. */
  readonly parent?: BudgetId | null;
  /** The session that runs are started in; whoever is no operator takes no other. */
  readonly session?: string;
  /** The programs that runs may be started with, by their names. */
  readonly programs?: readonly Program[];
  /** Makes a program of code that a client sends; without it, runs are of known programs alone. */
  readonly brought?: (code: BroughtCode) => Program;
  /** Starts a run as the configuration allows it to this principal; else as the library does. */
  readonly start?: (wish: RunWish, by: Principal) => Promise<RunRecord>;
  /** Tells what such a run would take; else as the library does. */
  readonly estimate?: (wish: RunWish, by: Principal) => Promise<Preflight>;
  /**
   * Told of each run that is to be driven, by a process that bounds how many are driven at once; then no call of a client drives
   * one. Without it, calls drive what they start and what they let go on.
   */
  readonly queued?: (run: string) => void;
  /** Where a person answers a request in a browser, if there is such a place. */
  readonly approvalUrl?: (approval: string) => string;
  /** The command line that does something with a request or a run. */
  readonly commandLine?: (command: "approve" | "deny" | "show", id: string) => string;
  readonly version: string;
  /** Told of faults that are ours: clients hear no more than that there was one. */
  readonly onError?: (error: unknown) => void;
}

/** Who is at the other end of a connection. */
export interface Peer {
  readonly principal: Principal;
  /**
   * The person in front of the client, in whose name questions are answered there; null when nobody vouches for the client, because
   * an agent's own client could answer for itself.
   */
  readonly human: Principal | null;
}

/** What a connection may use unless it is said otherwise: its code all of these, and each run that it starts one of `subcalls`. */
export const CODE_LIMITS: BudgetLimits = {
  fuel: 100_000_000_000,
  wall_clock_ms: 600_000,
  storage_write_bytes: 52_428_800,
  steps: 1000,
  subcalls: 100,
};

import type { PaidView } from "bursar/views";

/** Whoever looks at the page. */
export interface Me {
  readonly name: string;
  readonly role: "viewer" | "operator" | "agent" | "admin";
  /** Whether a login is demanded here. */
  readonly login: boolean;
}

/** A key of the gateway, without its secret. */
export interface Key {
  readonly id: string;
  readonly status: "active" | "revoked";
  readonly label: string;
  readonly budget: string;
  readonly created: number;
  readonly expires: number | null;
  readonly rotating_until: number | null;
}

/** A key with how the budget stands that pays for what is asked with it. */
export interface KeyView extends Key, PaidView {}

/** The keys there are, and whether the server has a gateway that takes them. */
export interface KeyList {
  readonly items: readonly KeyView[];
  readonly gateway: boolean;
}

/** Something that lets a person or a program log in, without its secret. */
export interface TokenView {
  readonly id: string;
  readonly status: "active" | "revoked";
  readonly name: string;
  readonly role: Me["role"];
  readonly created: number;
  readonly expires: number | null;
}

/** A sandbox that is kept for further executions; the server says more of it than is named here. */
export interface SandboxSessionView {
  readonly id: string;
  readonly language?: string;
  readonly status?: string;
  readonly created?: number;
}

/** One limit of the configuration in force, and who has set it. */
export interface ConfiguredLimit {
  readonly dimension: string;
  readonly value: number | null;
  readonly policy: string;
  readonly origin: string;
}

/** What the configuration gives to runs; the server says more of it than is named here. */
export interface Config {
  readonly file?: string | null;
  readonly limits?: readonly ConfiguredLimit[];
}

/** A program that can be started by its name. */
export interface OfferedProgram {
  readonly name: string;
  readonly kind: string;
}

/** May decide about requests, and start, cancel and extend runs. */
export function mayOperate(me: Me): boolean {
  return me.role === "operator" || me.role === "admin";
}

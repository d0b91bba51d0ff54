import type { BudgetId, Path } from "../../core/budget.js";
import type { Call } from "../../core/call.js";
import type { Head } from "../../core/chain/link.js";
import type { Dimension } from "../../core/dimension.js";
import type { Document, DocumentKind, Entry } from "../../core/document.js";
import type { Operation } from "../../core/operation.js";
import type { Time } from "../../core/time.js";
import type { Stretch } from "../durable/lines.js";
import type { Reading } from "../durable/rows.js";
import type { Brief } from "./brief.js";
import type { Packed } from "./packed.js";

/** What the thread that owns the file is told when it starts. */
export interface WriterOptions {
  readonly path: string;
  readonly dimensions: readonly Dimension[];
  readonly reading: Reading;
  /** How long a transaction waits for other processes. */
  readonly patience_ms: number;
}

/** Everything that can be looked up, and what is found. Lists come in pages, so that none has to fit into memory. */
export interface Lookups {
  path: { asked: { readonly id: BudgetId }; found: Path };
  head: { asked: { readonly chain: string }; found: Head | null };
  lines: { asked: { readonly chain: string; readonly from: number }; found: readonly Stretch[] };
  document: { asked: { readonly kind: DocumentKind; readonly id: string }; found: Document | null };
  documents: {
    asked: { readonly kind: DocumentKind; readonly status: string | null; readonly after: string };
    found: readonly Document[];
  };
  beginning: {
    asked: {
      readonly kind: DocumentKind;
      readonly prefix: string;
      readonly status: string | null;
      readonly after: string;
      readonly limit: number;
      readonly paths: readonly (readonly string[])[] | null;
    };
    found: readonly Document[];
  };
  /** In the order in which they were first written, or backwards. */
  ordered: {
    asked: {
      readonly kind: DocumentKind;
      readonly order: "latest" | "oldest";
      readonly status: string | null;
      readonly beyond: string | null;
      readonly limit: number;
      /** What is read of the bodies; null for all of it. */
      readonly paths: readonly (readonly string[])[] | null;
    };
    found: readonly Document[];
  };
  counts: { asked: { readonly kind: DocumentKind }; found: Readonly<Record<string, number>> };
  held: { asked: { readonly after: string }; found: readonly Call[] };
  journal: { asked: { readonly run: string; readonly after: number }; found: readonly Numbered[] };
  entry: { asked: { readonly run: string; readonly key: string }; found: Entry | null };
}

interface Numbered {
  readonly seq: number;
  readonly entry: Entry;
}

/** How many documents or entries one page holds at most. Only an empty page is the last: they may also be too long. */
export const PAGE = 500;
/** A page ends with the document or entry that makes it longer than so many characters. */
export const PAGE_LENGTH: number = 4 * 1024 * 1024;

export interface ApplyRequest {
  readonly id: number;
  readonly operations: readonly Operation[];
  readonly time: Time;
}

export interface LookupRequest<What extends keyof Lookups = keyof Lookups> {
  readonly id: number;
  readonly what: What;
  readonly asked: Lookups[What]["asked"];
  readonly time: Time;
}

/** Who looks everything up. */
export type Readers = { readonly [What in keyof Lookups]: (request: LookupRequest<What>) => Lookups[What]["found"] };

export type Request = ApplyRequest | LookupRequest;

/** What the owner of the file is sent. */
export type ToWriter = readonly Request[] | "watch" | "rest" | "close";

export interface Reply {
  readonly id: number;
  readonly outcomes?: readonly Brief[];
  readonly found?: unknown;
  readonly error?: Packed;
}

/**
 * What the owner of the file sends back; `changed` when another process has written. Replies travel as JSON, a list of
 * `Reply`, which takes half the time that copying objects between threads does.
 */
export type FromWriter =
  | { readonly ready: true }
  | { readonly failed: Packed }
  | { readonly replies: string }
  | { readonly changed: true };

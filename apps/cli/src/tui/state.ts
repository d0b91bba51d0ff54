import type { BudgetAmounts } from "bursar";

export type Tab = "approvals" | "runs";
export type Part = "steps" | "chain";

/** How large a window is, or a part of it. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** One line of a form. */
export interface Field {
  readonly name: string;
  readonly text: string;
}

/** What is being written before something is decided. It stays with the request it was opened for, whatever the list does. */
export interface Form {
  readonly kind: "form";
  readonly request: string;
  readonly answer: "approve" | "deny";
  readonly fields: readonly Field[];
  readonly at: number;
  /** Whether a yes may add nothing: a run that has not begun can do so with the limits it has. */
  readonly bare: boolean;
}

/** A question before something that cannot be taken back. */
interface Question {
  readonly kind: "question";
  readonly text: string;
  readonly wish: Wish;
}

type Mode = { readonly kind: "browse" } | { readonly kind: "help" } | Form | Question;

/** What whoever sits at the keyboard wants done. */
export type Wish =
  | {
      readonly kind: "decide";
      readonly request: string;
      readonly answer: "approve" | "deny";
      readonly extensions: BudgetAmounts | null;
      readonly reason: string | null;
      /** Whether he knows that nobody here can drive the run on. */
      readonly anyway: boolean;
    }
  | { readonly kind: "resume"; readonly run: string }
  | { readonly kind: "cancel"; readonly run: string }
  | { readonly kind: "quit"; readonly anyway: boolean }
  | { readonly kind: "interrupt" }
  | { readonly kind: "repaint" };

export interface Note {
  readonly text: string;
  readonly tone: "good" | "warn" | "bad";
}

/** Where whoever looks at the screen is on it. Things are chosen by their ids: lists move by themselves. */
export interface State {
  readonly tab: Tab;
  readonly chosen: Readonly<Record<Tab, string | null>>;
  readonly page: { readonly run: string; readonly part: Part; readonly back: number } | null;
  readonly mode: Mode;
  readonly note: Note | null;
}

export const BEGIN: State = {
  tab: "approvals",
  chosen: { approvals: null, runs: null },
  page: null,
  mode: { kind: "browse" },
  note: null,
};

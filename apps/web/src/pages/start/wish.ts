import type { ExhaustionPolicy, PreflightPolicy } from "bursar";
import type { Json } from "bursar/chain";
import { useState } from "preact/hooks";
import type { OfferedProgram } from "../../api/shapes.js";
import { limitsOf, type Typed } from "../../panels/amounts.js";
import { readInput, type TypedInput } from "./json-input.js";

/** What is written about limits. What is chosen nowhere is left to the server. */
export interface Terms {
  readonly typed: Typed;
  readonly policies: Readonly<Record<string, ExhaustionPolicy>>;
}

/** A run as the server takes it. */
export interface Wish {
  readonly program: string;
  readonly input: Json;
  readonly limits: Readonly<Record<string, number>>;
  readonly policies?: Readonly<Record<string, ExhaustionPolicy>>;
  readonly session?: string;
  readonly preflight?: PreflightPolicy;
}

/** What is written in the form, and the run that it makes. */
export interface Written {
  readonly program: OfferedProgram;
  readonly text: string;
  readonly input: TypedInput;
  readonly terms: Terms;
  /** Empty for none. */
  readonly session: string;
  /** Null for what the server does by itself. */
  readonly preflight: PreflightPolicy | null;
  /** Null while something is wrong with it. */
  readonly wish: Wish | null;
  readonly setProgram: (program: OfferedProgram) => void;
  readonly setText: (text: string) => void;
  readonly setTerms: (terms: Terms) => void;
  readonly setSession: (session: string) => void;
  readonly setPreflight: (preflight: PreflightPolicy | null) => void;
}

export function useWritten(first: OfferedProgram): Written {
  const [program, setProgram] = useState(first);
  const [text, setText] = useState("");
  const [terms, setTerms] = useState<Terms>({ typed: {}, policies: {} });
  const [session, setSession] = useState("");
  const [preflight, setPreflight] = useState<PreflightPolicy | null>(null);
  const input = readInput(text);
  const limits = limitsOf(terms.typed);
  const isWrong = input.kind === "fault" || limits === null;
  const chosen = {
    ...(Object.keys(terms.policies).length > 0 && { policies: terms.policies }),
    ...(session.trim() !== "" && { session: session.trim() }),
    ...(preflight !== null && { preflight }),
  };
  const wish = isWrong ? null : { program: program.name, input: input.value, limits, ...chosen };
  return {
    program,
    text,
    input,
    terms,
    session,
    preflight,
    wish,
    setProgram,
    setText,
    setTerms,
    setSession,
    setPreflight,
  };
}

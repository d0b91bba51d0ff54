import type { ExhaustionPolicy } from "bursar";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { labelOf } from "../../format/dimension.js";

/** What happens when nothing is left, from strict to lenient. */
const THEN: Readonly<Record<ExhaustionPolicy, string>> = {
  hard_stop: "it ends",
  approval_required: "it asks",
  soft_warn: "it only warns",
};

function isPolicy(word: string): word is ExhaustionPolicy {
  return Object.hasOwn(THEN, word);
}

/** In words; null for what is not known here. */
export function thenOf(policy: string | null): string | null {
  return policy !== null && isPolicy(policy) ? THEN[policy] : null;
}

interface PolicyFieldProps {
  readonly dimension: string;
  /** Null for the usual one. */
  readonly policy: ExhaustionPolicy | null;
  /** What holds when nothing is chosen, as far as the server tells. */
  readonly usual: string | null;
  readonly onChoose: (policy: ExhaustionPolicy | null) => void;
}

/** What happens when a limit is reached. */
export function PolicyField({ dimension, policy, usual, onChoose }: PolicyFieldProps): JSX.Element {
  const id = useId();
  const then = thenOf(usual);
  return (
    <>
      <label for={id}>At the limit of {labelOf(dimension).toLowerCase()}</label>
      <select
        id={id}
        value={policy ?? ""}
        onChange={({ currentTarget: { value } }) => onChoose(isPolicy(value) ? value : null)}
      >
        <option value="">{then === null ? "as by default" : `by default ${then}`}</option>
        {Object.entries(THEN).map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </>
  );
}

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { post } from "../../api/client.js";
import type { Key } from "../../api/shapes.js";
import { inOrder, STANDARD } from "../../format/dimension.js";
import { AmountField } from "../../panels/amount-field.js";
import { limitsOf, type Typed } from "../../panels/amounts.js";
import { useAct } from "../../parts/act.js";
import { AlsoSelect } from "../../parts/also-select.js";
import { expiryIn } from "../../parts/expiry.js";
import { ExpiryField } from "../../parts/expiry-field.js";
import { Problem } from "../../parts/states.js";

/** A key with its secret, as the server gives it once. */
export interface NewKey {
  readonly key: Key;
  readonly secret: string;
}

/** What keys are limited by most often. */
const FIRST: Typed = { cost_usd: "5", llm_tokens: "" };

/** Makes a key, with a budget of its own or for one that is there. */
export function KeyForm({ onMade }: { readonly onMade: (made: NewKey) => void }): JSX.Element {
  const [label, setLabel] = useState("");
  const [budget, setBudget] = useState("");
  const [typed, setTyped] = useState<Typed>(FIRST);
  const [days, setDays] = useState("");
  const { busy, error, run } = useAct();
  const limits = limitsOf(typed);
  const payer = budget.trim() === "" ? { limits } : { budget: budget.trim() };
  const ready = budget.trim() !== "" || (limits !== null && Object.keys(limits).length > 0);
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const wish = { ...payer, ...(label.trim() === "" ? {} : { label: label.trim() }), ...expiryIn(days, Date.now()) };
      onMade(await post<NewKey>("keys", wish));
      setLabel("");
    });
  };
  return (
    <details class="maker">
      <summary>New key</summary>
      <form class="fields" onSubmit={submit}>
        <label class="field">
          <span>Label</span>
          <input value={label} maxLength={200} onInput={(event) => setLabel(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>
            Budget <span class="note">(empty: a new one with these limits)</span>
          </span>
          <input value={budget} onInput={(event) => setBudget(event.currentTarget.value)} />
        </label>
        {budget.trim() === "" && <Limits typed={typed} onType={setTyped} />}
        <ExpiryField value={days} onChange={setDays} />
        {error !== null && <Problem error={error} />}
        <div class="actions">
          <button type="submit" class="button button-primary" disabled={busy || !ready}>
            Make key
          </button>
        </div>
      </form>
    </details>
  );
}

interface LimitsProps {
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

/** What is limited most often, what was chosen besides, and a way to choose more. */
function Limits({ typed, onType }: LimitsProps): JSX.Element {
  const select = useRef<HTMLSelectElement>(null);
  const remove = (dimension: string) => {
    const { [dimension]: _, ...rest } = typed;
    onType(rest);
    // The button that was pressed is gone; whoever uses the keyboard goes on where he chose it.
    requestAnimationFrame(() => select.current?.focus());
  };
  return (
    <>
      {inOrder(Object.keys(typed), (dimension) => dimension).map((dimension) => (
        <AmountField
          key={dimension}
          dimension={dimension}
          typed={typed[dimension] ?? ""}
          purpose="limit"
          limit={null}
          onType={(text) => onType({ ...typed, [dimension]: text })}
          {...(!Object.hasOwn(FIRST, dimension) && { onRemove: () => remove(dimension) })}
        />
      ))}
      <AlsoSelect
        label="Limit also"
        dimensions={STANDARD.filter((dimension) => !Object.hasOwn(typed, dimension))}
        onChoose={(dimension) => onType({ ...typed, [dimension]: "" })}
        select={select}
      />
    </>
  );
}

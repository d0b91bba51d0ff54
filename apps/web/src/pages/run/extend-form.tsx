import type { RunView } from "bursar/views";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { post } from "../../api/client.js";
import { inOrder } from "../../format/dimension.js";
import { AmountField } from "../../panels/amount-field.js";
import { extensionsOf, type Typed } from "../../panels/amounts.js";
import { useAct } from "../../parts/act.js";
import { Problem } from "../../parts/states.js";

interface ExtendFormProps {
  readonly run: RunView;
  readonly onClose: () => void;
  readonly onDone: (run: RunView) => void;
}

/** Grants a run more before it has to ask. */
export function ExtendForm({ run: { id, budgets }, onClose, onDone }: ExtendFormProps): JSX.Element {
  const own = inOrder(budgets.at(-1)?.dimensions ?? [], ({ dimension }) => dimension);
  const [typed, setTyped] = useState<Typed>({});
  const [reason, setReason] = useState("");
  const { busy, error, run } = useAct();
  const extensions = extensionsOf(typed);
  const ready = extensions !== null && Object.keys(extensions).length > 0;
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const said = reason.trim() === "" ? {} : { reason: reason.trim() };
      onDone(await post<RunView>(`runs/${encodeURIComponent(id)}/extend`, { extensions, ...said }));
    });
  };
  return (
    <form class="decision" onSubmit={submit}>
      <div class="amount-fields">
        {own.map(({ dimension, limit }) => (
          <AmountField
            key={dimension}
            dimension={dimension}
            typed={typed[dimension] ?? ""}
            limit={limit}
            onType={(text) => setTyped({ ...typed, [dimension]: text })}
          />
        ))}
      </div>
      <label class="field">
        <span>
          Reason <span class="note">(optional, goes into the chain)</span>
        </span>
        <input value={reason} maxLength={2000} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      {error !== null && <Problem error={error} />}
      <div class="actions">
        <button type="submit" class="button button-primary" disabled={busy || !ready}>
          Extend
        </button>
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </form>
  );
}

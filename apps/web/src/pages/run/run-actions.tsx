import type { RunView } from "bursar/views";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { post } from "../../api/client.js";
import { useMe } from "../../api/me.js";
import { mayOperate } from "../../api/shapes.js";
import { useAct } from "../../parts/act.js";
import { announce } from "../../parts/announcer.js";
import { Dialog } from "../../parts/dialog.js";
import { Problem } from "../../parts/states.js";
import { ExtendForm } from "./extend-form.js";

interface RunActionsProps {
  readonly run: RunView;
  readonly onChanged: (run: RunView) => void;
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** What an operator can do to a run that has not ended. */
export function RunActions({ run, onChanged }: RunActionsProps): JSX.Element | null {
  const me = useMe();
  const [open, setOpen] = useState<"cancel" | "extend" | null>(null);
  if (ENDED.has(run.status) || !mayOperate(me)) return null;
  const done = (changed: RunView, text: string) => {
    setOpen(null);
    announce(text);
    onChanged(changed);
  };
  return (
    <div class="heading-actions">
      {run.status === "paused" && run.requests.length === 0 && (
        <ResumeButton run={run} onDone={(changed) => done(changed, "The run goes on")} />
      )}
      <button type="button" class="button" onClick={() => setOpen("extend")}>
        Extend …
      </button>
      <button type="button" class="button" onClick={() => setOpen("cancel")}>
        Cancel run …
      </button>
      {open === "cancel" && (
        <CancelDialog
          run={run}
          onClose={() => setOpen(null)}
          onDone={(changed) => done(changed, "The run is cancelled")}
        />
      )}
      {open === "extend" && (
        <Dialog title={`Extend ${run.program.name}`} onClose={() => setOpen(null)}>
          <ExtendForm
            run={run}
            onClose={() => setOpen(null)}
            onDone={(changed) => done(changed, "The budget is extended")}
          />
        </Dialog>
      )}
    </div>
  );
}

/** For a run that stands still though nothing is asked any more, as when a request has expired. */
function ResumeButton({
  run: { id },
  onDone,
}: {
  readonly run: RunView;
  readonly onDone: (run: RunView) => void;
}): JSX.Element {
  const { busy, error, run } = useAct();
  const resume = () => run(async () => onDone(await post<RunView>(`runs/${encodeURIComponent(id)}/resume`)));
  return (
    <>
      {error !== null && <Problem error={error} />}
      <button type="button" class="button" disabled={busy} onClick={resume}>
        Resume
      </button>
    </>
  );
}

interface CancelDialogProps {
  readonly run: RunView;
  readonly onClose: () => void;
  readonly onDone: (run: RunView) => void;
}

function CancelDialog({ run: { id, program }, onClose, onDone }: CancelDialogProps): JSX.Element {
  const [reason, setReason] = useState("");
  const { busy, error, run } = useAct();
  const cancel = () =>
    run(async () => {
      const said = reason.trim() === "" ? {} : { reason: reason.trim() };
      onDone(await post<RunView>(`runs/${encodeURIComponent(id)}/cancel`, said));
    });
  return (
    <Dialog title={`Cancel ${program.name}?`} onClose={onClose}>
      <p>Its calls under way are stopped and charged for what they used. It cannot be resumed.</p>
      <label class="field">
        <span>
          Reason <span class="note">(optional, goes into the chain)</span>
        </span>
        <input value={reason} maxLength={2000} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      {error !== null && <Problem error={error} />}
      <div class="actions">
        <button type="button" class="button button-danger" disabled={busy} onClick={cancel}>
          Cancel run
        </button>
        <button type="button" class="button" onClick={onClose}>
          Leave it running
        </button>
      </div>
    </Dialog>
  );
}

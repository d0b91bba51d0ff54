import type { EstimateView, RunView } from "bursar/views";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { post } from "../../api/client.js";
import type { OfferedProgram } from "../../api/shapes.js";
import { useAct } from "../../parts/act.js";
import { announce } from "../../parts/announcer.js";
import { Problem } from "../../parts/states.js";
import { navigate } from "../../router/navigation.js";
import { runAddress } from "../../router/route.js";
import { Estimate, fitText } from "./estimate.js";
import { InputField } from "./input-field.js";
import { LimitFields } from "./limit-fields.js";
import { PreflightField } from "./preflight-field.js";
import { ProgramField } from "./program-field.js";
import { SessionField } from "./session-field.js";
import { useWritten, type Wish } from "./wish.js";

interface StartFormProps {
  readonly programs: readonly OfferedProgram[];
  readonly first: OfferedProgram;
}

/** What was estimated, and for what. */
interface Estimated {
  readonly of: string;
  readonly view: EstimateView;
}

/** A program, its input, its limits; what it would take; and off it goes. */
export function StartForm({ programs, first }: StartFormProps): JSX.Element {
  const written = useWritten(first);
  const { program, text, input, terms, session, preflight, wish } = written;
  const [isChecked, setChecked] = useState(false);
  const [isEstimating, setEstimating] = useState(false);
  const [estimated, setEstimated] = useState<Estimated | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const { busy, error, run } = useAct();
  /** Does something with what is written, or leads to what is wrong with it: nothing wrong is ever sent. */
  const send = (isEstimate: boolean, work: (wish: Wish) => Promise<void>) => {
    setChecked(true);
    setEstimating(isEstimate);
    if (wish !== null) void run(() => work(wish));
    else requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  };
  const estimate = async (body: Wish) =>
    setEstimated({ of: JSON.stringify(body), view: await post<EstimateView>("estimates", body) });
  return (
    // Enter in a field must not start anything; only a button does.
    <form ref={form} class="start" onSubmit={(event) => event.preventDefault()}>
      <div class="start-what">
        <ProgramField programs={programs} program={program} onChoose={written.setProgram} />
        <InputField
          text={text}
          read={input}
          isChecked={isChecked}
          onType={written.setText}
          onLeave={() => setChecked(true)}
        />
      </div>
      <LimitFields program={program.name} terms={terms} onChange={written.setTerms} />
      <div class="start-what">
        <SessionField session={session} onType={written.setSession} />
        <PreflightField preflight={preflight} onChoose={written.setPreflight} />
      </div>
      {error !== null && <Problem error={error} />}
      <div class="actions">
        <button
          type="button"
          class="button button-primary button-large"
          disabled={busy}
          onClick={() => send(false, start)}
        >
          {busy && !isEstimating ? "Starting …" : "Start"}
        </button>
        <button type="button" class="button button-large" disabled={busy} onClick={() => send(true, estimate)}>
          {busy && isEstimating ? "Estimating …" : "Estimate"}
        </button>
      </div>
      <p class="unseen" role="status">
        {estimated === null ? "" : fitText(estimated.view)}
      </p>
      {estimated !== null && <Estimate estimate={estimated.view} isOld={estimated.of !== JSON.stringify(wish)} />}
    </form>
  );
}

/** Whoever has started a run wants to see it. */
async function start(wish: Wish): Promise<void> {
  const { id } = await post<RunView>("runs", wish);
  announce("The run is started");
  navigate(runAddress(id));
}

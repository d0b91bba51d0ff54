import type { RunView } from "bursar/views";
import type { JSX } from "preact";
import { labelOf } from "../../format/dimension.js";
import { JsonText, TextBlock } from "../../parts/json.js";
import { Execution } from "./execution.js";

/** What went in, what came out, and what was printed on the way. */
export function Outcome({ run }: { readonly run: RunView }): JSX.Element {
  const { failure, result, input, output, execution, status } = run;
  return (
    <section aria-label="Outcome and output">
      {failure !== null && (
        <div class="problem">
          <p>
            <strong>{failure.message}</strong>
          </p>
          {failure.dimension !== null && <p>{labelOf(failure.dimension)} ran out.</p>}
        </div>
      )}
      {status === "completed" && (
        <details open>
          <summary>Result</summary>
          <JsonText value={result} />
        </details>
      )}
      {output.stdout !== "" && (
        <details open>
          <summary>Output</summary>
          <TextBlock text={output.stdout} label="Output" />
        </details>
      )}
      {output.stderr !== "" && (
        <details open>
          <summary>Errors and log</summary>
          <TextBlock text={output.stderr} label="Errors and log" />
        </details>
      )}
      {execution !== null && (
        <details open>
          <summary>Sandbox</summary>
          <Execution execution={execution} />
        </details>
      )}
      {input !== null && (
        <details>
          <summary>Input</summary>
          <JsonText value={input} />
        </details>
      )}
    </section>
  );
}

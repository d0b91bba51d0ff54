import type { Json, JsonObject } from "bursar/chain";
import type { RunView } from "bursar/views";
import type { JSX } from "preact";
import { formatAmount } from "../../format/amount.js";
import { Bar } from "../../parts/bar.js";
import { TextBlock } from "../../parts/json.js";

type Told = NonNullable<RunView["execution"]>;

/** What the sandbox says of an execution: how its fuel was used, and what to do about an error. */
export function Execution({ execution }: { readonly execution: Told }): JSX.Element {
  const { fuel_analysis, error_guidance } = execution;
  return (
    <div class="execution">
      {fuel_analysis !== null && <FuelAnalysis analysis={fuel_analysis} />}
      {error_guidance !== null && <Guidance guidance={error_guidance} />}
    </div>
  );
}

function FuelAnalysis({ analysis }: { readonly analysis: JsonObject }): JSX.Element {
  const consumed = Number(analysis.consumed ?? 0);
  const { budget } = analysis;
  return (
    <div class="fuel">
      <p>
        <strong>Fuel: {String(analysis.status ?? "unknown")}</strong>, {formatAmount("fuel", consumed)}
        {typeof budget === "number" ? ` of ${formatAmount("fuel", budget)}` : ", no limit"}
      </p>
      {typeof budget === "number" && (
        <Bar dimension="fuel" used={consumed} held={0} limit={budget} thresholds={[50, 75, 90]} />
      )}
      {typeof analysis.recommendation === "string" && <p>{analysis.recommendation}</p>}
      <List title="Likely causes" items={textsIn(analysis.likely_causes)} />
    </div>
  );
}

function Guidance({ guidance }: { readonly guidance: JsonObject }): JSX.Element {
  return (
    <div class="guidance">
      <p>
        <strong>{String(guidance.error_type ?? "Error")}</strong>
        {typeof guidance.error_message === "string" && <>: {guidance.error_message}</>}
      </p>
      <List title="What to do" items={textsIn(guidance.actionable_guidance)} />
      <List title="Read on" items={textsIn(guidance.related_docs)} />
      {textsIn(guidance.code_examples).map((example) => (
        <TextBlock key={example} text={example} label="Example" />
      ))}
    </div>
  );
}

function List({ title, items }: { readonly title: string; readonly items: readonly string[] }): JSX.Element | null {
  if (items.length === 0) return null;
  return (
    <>
      <p class="note">{title}</p>
      <ul>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </>
  );
}

/** Whatever a guest has written is only ever text here. */
function textsIn(value: Json | undefined): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
}

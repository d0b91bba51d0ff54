import type { ExhaustionPolicy } from "bursar";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { useResource } from "../../api/resource.js";
import type { Config, ConfiguredLimit } from "../../api/shapes.js";
import { formatAmount } from "../../format/amount.js";
import { inOrder, labelOf } from "../../format/dimension.js";
import { amountProblem, plain } from "../../panels/amounts.js";
import { AlsoSelect } from "../../parts/also-select.js";
import { AmountInput } from "../../parts/amount-input.js";
import { Ready } from "../../parts/states.js";
import { PolicyField, thenOf } from "./policy-field.js";
import type { Terms } from "./wish.js";

interface LimitFieldsProps {
  readonly program: string;
  readonly terms: Terms;
  readonly onChange: (terms: Terms) => void;
}

/** A limit for each dimension, beside the one that holds when nothing is written, and what happens when it is reached. */
export function LimitFields({ program, terms, onChange }: LimitFieldsProps): JSX.Element {
  const resource = useResource<Config>(`config?${new URLSearchParams({ program })}`, () => false);
  return (
    <fieldset class="amount-fields start-limits">
      <legend>Limits</legend>
      <Ready resource={resource} what="the limits">
        {({ limits = USUAL }) => <Fields defaults={limits} terms={terms} onChange={onChange} />}
      </Ready>
    </fieldset>
  );
}

/** What can be limited where the server tells nothing about its limits. */
const USUAL: readonly ConfiguredLimit[] = [];
const FIRST: readonly string[] = ["cost_usd", "llm_tokens", "steps", "wall_clock_ms"];
const BEYOND: readonly string[] = ["network_egress_bytes", "storage_write_bytes", "fuel", "subcalls"];

interface FieldsProps {
  readonly defaults: readonly ConfiguredLimit[];
  readonly terms: Terms;
  readonly onChange: (terms: Terms) => void;
}

/** What is limited anyway, and what was chosen besides; the rest can be. */
function Fields({ defaults, terms, onChange }: FieldsProps): JSX.Element {
  const { typed, policies } = terms;
  const select = useRef<HTMLSelectElement>(null);
  const known = defaults.length === 0 ? [...FIRST, ...BEYOND] : defaults.map(({ dimension }) => dimension);
  const isLimited = (dimension: string) =>
    defaults.length === 0 ? FIRST.includes(dimension) : (defaultOf(defaults, dimension)?.value ?? null) !== null;
  const isShown = (dimension: string) =>
    isLimited(dimension) || Object.hasOwn(typed, dimension) || Object.hasOwn(policies, dimension);
  // What was written for another program is sent as well, and so has to be seen.
  const dimensions = inOrder(
    [...new Set([...known, ...Object.keys(typed), ...Object.keys(policies)])],
    (dimension) => dimension,
  );
  const remove = (dimension: string) => {
    onChange({ typed: without(typed, dimension), policies: without(policies, dimension) });
    // The button that was pressed is gone; whoever uses the keyboard goes on where he chose it.
    requestAnimationFrame(() => select.current?.focus());
  };
  return (
    <>
      {dimensions.filter(isShown).map((dimension) => (
        <LimitField
          key={dimension}
          dimension={dimension}
          typed={typed[dimension] ?? ""}
          usual={defaultOf(defaults, dimension)}
          policy={policies[dimension] ?? null}
          onType={(text) => onChange({ ...terms, typed: { ...typed, [dimension]: text } })}
          onChoose={(policy) => {
            const rest = without(policies, dimension);
            onChange({ ...terms, policies: policy === null ? rest : { ...rest, [dimension]: policy } });
          }}
          onRemove={isLimited(dimension) ? null : () => remove(dimension)}
        />
      ))}
      <AlsoSelect
        label="Limit also"
        dimensions={dimensions.filter((dimension) => !isShown(dimension))}
        onChoose={(dimension) => onChange({ ...terms, typed: { ...typed, [dimension]: "" } })}
        select={select}
      />
    </>
  );
}

function without<Value>(all: Readonly<Record<string, Value>>, name: string): Readonly<Record<string, Value>> {
  const { [name]: _, ...rest } = all;
  return rest;
}

function defaultOf(defaults: readonly ConfiguredLimit[], dimension: string): ConfiguredLimit | null {
  return defaults.find((each) => each.dimension === dimension) ?? null;
}

interface LimitFieldProps {
  readonly dimension: string;
  readonly typed: string;
  readonly policy: ExhaustionPolicy | null;
  readonly usual: ConfiguredLimit | null;
  readonly onType: (text: string) => void;
  readonly onChoose: (policy: ExhaustionPolicy | null) => void;
  /** Null for what is limited anyway. */
  readonly onRemove: (() => void) | null;
}

function LimitField(props: LimitFieldProps): JSX.Element {
  const { dimension, typed, policy, usual, onType, onChoose, onRemove } = props;
  const value = usual?.value ?? null;
  return (
    <AmountInput
      dimension={dimension}
      label={labelOf(dimension)}
      typed={typed}
      placeholder={value === null ? "" : plain(value)}
      problem={amountProblem(dimension, typed, "limit")}
      note={noteOf(dimension, typed, policy, usual)}
      onType={onType}
      onRemove={onRemove}
    >
      <PolicyField dimension={dimension} policy={policy} usual={usual?.policy ?? null} onChoose={onChoose} />
    </AmountInput>
  );
}

/** What holds with what is written, and without it: how much, who has said so, and what happens then. */
function noteOf(
  dimension: string,
  typed: string,
  policy: ExhaustionPolicy | null,
  usual: ConfiguredLimit | null,
): string {
  const words = thenOf(policy ?? usual?.policy ?? null);
  const then = words === null ? "" : `, then ${words}`;
  const own = typed.trim() === "" ? "" : `${ownText(dimension, Number(typed))}${then}. `;
  if (usual === null) return `${own}By default as the server has it.`;
  const from = usual.origin === "default" ? "built in" : usual.origin;
  if (usual.value === null) return `${own}By default no limit (${from}).`;
  return `${own}By default ${formatAmount(dimension, usual.value)} (${from})${own === "" ? then : ""}.`;
}

function ownText(dimension: string, limit: number): string {
  return limit === 0 ? "Nothing of it is allowed" : `Up to ${formatAmount(dimension, limit)}`;
}

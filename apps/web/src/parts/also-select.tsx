import type { JSX, Ref } from "preact";
import { useId } from "preact/hooks";
import { inOrder, labelOf } from "../format/dimension.js";

interface AlsoSelectProps {
  readonly label: string;
  readonly dimensions: readonly string[];
  readonly onChoose: (dimension: string) => void;
  /** For who has to lead somebody back to it. */
  readonly select?: Ref<HTMLSelectElement>;
}

/** A way to take in one more dimension; nothing when there is none. */
export function AlsoSelect({ label, dimensions, onChoose, select = null }: AlsoSelectProps): JSX.Element | null {
  const id = useId();
  if (dimensions.length === 0) return null;
  const choose = (chosen: string) => {
    if (chosen !== "") onChoose(chosen);
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} ref={select} value="" onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">choose …</option>
        {inOrder(dimensions, (dimension) => dimension).map((dimension) => (
          <option key={dimension} value={dimension}>
            {labelOf(dimension)}
          </option>
        ))}
      </select>
    </div>
  );
}

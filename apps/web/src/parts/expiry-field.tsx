import type { JSX } from "preact";
import { EXPIRIES } from "./expiry.js";

interface ExpiryFieldProps {
  /** Days, or nothing for never. */
  readonly value: string;
  readonly onChange: (days: string) => void;
}

export function ExpiryField({ value, onChange }: ExpiryFieldProps): JSX.Element {
  return (
    <label class="field">
      <span>Expires</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {EXPIRIES.map(({ label, days }) => (
          <option key={label} value={days ?? ""}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

import type { JSX } from "preact";
import type { OfferedProgram } from "../../api/shapes.js";

interface ProgramFieldProps {
  readonly programs: readonly OfferedProgram[];
  readonly program: OfferedProgram;
  readonly onChoose: (program: OfferedProgram) => void;
}

/** Where a program of a kind is executed. */
const KINDS: Readonly<Record<string, string>> = {
  agent: "Trusted code, in the server's own process.",
  guest: "Runs in the sandbox.",
};

export function ProgramField({ programs, program, onChoose }: ProgramFieldProps): JSX.Element {
  const choose = (name: string) => {
    const chosen = programs.find((each) => each.name === name);
    if (chosen !== undefined) onChoose(chosen);
  };
  const kind = KINDS[program.kind];
  return (
    <div class="field">
      <label for="program">Program</label>
      <select
        id="program"
        value={program.name}
        aria-describedby={kind === undefined ? undefined : "program-kind"}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {programs.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {kind !== undefined && (
        <p id="program-kind" class="note">
          {kind}
        </p>
      )}
    </div>
  );
}

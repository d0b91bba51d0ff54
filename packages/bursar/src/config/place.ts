/** Where something was written: in a file, or in the text of a flag, which has no lines. */
export interface Place {
  readonly file: string;
  readonly line: number | null;
  readonly column: number;
}

/** `bursar.yaml:12:9`, as editors and terminals make links of; `--budget, column 15` for a flag. */
export function printPlace({ file, line, column }: Place): string {
  return line === null ? `${file}, column ${column}` : `${file}:${line}:${column}`;
}

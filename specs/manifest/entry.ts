/** A requirement as the manifest writes it: its id, then the lines of its text that state it. */
export type Entry = readonly [id: `${number}/${string}`, lines: string];

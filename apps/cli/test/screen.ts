/** A terminal just good enough to see what a reader would see: text, line feeds, and the few sequences the demo writes. */
export class FakeScreen {
  columnCount: number;
  readonly lines: string[] = [""];
  readonly written: string[] = [];
  cursorShown = true;
  private row = 0;
  private column = 0;

  constructor(columns = 80) {
    this.columnCount = columns;
  }

  readonly write = (text: string): void => {
    this.written.push(text);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
    for (const [token] of text.matchAll(/\x1b\[([0-9;?]*)([A-Za-z])|[\s\S]/gu)) this.take(token);
  };

  readonly columns = (): number => this.columnCount;
  readonly rows = (): number => 24;

  get text(): string {
    return this.lines.map((line) => line.trimEnd()).join("\n");
  }

  private take(token: string): void {
    if (token === "\n") this.moveTo(this.row + 1, 0);
    else if (token === "\r") this.column = 0;
    else if (token.startsWith("\x1b")) this.obey(token);
    else this.put(token);
  }

  private put(character: string): void {
    if (this.column >= this.columnCount) this.moveTo(this.row + 1, 0);
    const line = (this.lines[this.row] ?? "").padEnd(this.column);
    this.lines[this.row] = line.slice(0, this.column) + character + line.slice(this.column + 1);
    this.column++;
  }

  private obey(sequence: string): void {
    const code = sequence.slice(2, -1);
    if (sequence.endsWith("A")) this.moveTo(Math.max(0, this.row - Number(code)), this.column);
    if (sequence.endsWith("K") || sequence.endsWith("J")) {
      this.lines[this.row] = (this.lines[this.row] ?? "").slice(0, this.column);
    }
    if (sequence.endsWith("J")) this.lines.length = this.row + 1;
    if (code === "?25") this.cursorShown = sequence.endsWith("h");
  }

  private moveTo(row: number, column: number): void {
    while (this.lines.length <= row) this.lines.push("");
    this.row = row;
    this.column = column;
  }
}

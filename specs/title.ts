const LIST_MARK = /^(?:#+|-|\d+\.|•)\s+/;
const BOX_DRAWING = /[\u2500-\u257F◄▼]/g;

/**
 * The human title of a requirement is the first line it owns without its markup. It is derived and never typed again,
 * so that a title cannot say something else than the text.
 */
export function titleOf(line: string): string {
  return line
    .replace(BOX_DRAWING, "")
    .replace(/\*\*|`/g, "")
    .trim()
    .replace(/^\/\/ /, "")
    .replace(LIST_MARK, "")
    .replace(/^Scenario: /, "")
    .replace(/^\|(.*)\|$/, (_, row: string) => joinCells(row))
    .replace(/,?\s+\/\/ /, " – ")
    .replace(/^pub /, "")
    .replace(/\s+/g, " ")
    .replace(/[,;:{]?\s*$/, "");
}

/** The slug of a scenario: its title without the band it names in a trailing parenthesis. */
export function slugOf(title: string): string {
  return title
    .replace(/\([^)]*\)\s*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

function joinCells(row: string): string {
  return row
    .split("|")
    .map((cell) => cell.trim())
    .filter((cell) => cell !== "")
    .join(", ");
}

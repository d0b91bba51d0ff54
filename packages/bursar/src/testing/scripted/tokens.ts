/** About what tokenizers make of English; it is a script, and says so. */
const BYTES_PER_TOKEN = 4;
/** How much of a text one event of a stream carries. */
const PIECE = 24;

/** How many tokens a scripted model takes a text for. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** As many whole characters as fit into so many tokens. */
export function beginningOf(text: string, tokens: number): string {
  if (tokensOf(text) <= tokens) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > tokens * BYTES_PER_TOKEN) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** A text as the events of a stream carry it. */
export function piecesOf(text: string): readonly string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / PIECE) }, (_, index) =>
    characters.slice(index * PIECE, (index + 1) * PIECE).join(""),
  );
}

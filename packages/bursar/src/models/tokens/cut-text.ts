/**
 * Where o200k and cl100k begin a new token, whatever stands around: behind a letter or a digit, before anything that does not
 * belong to a word (a mark or an apostrophe might), and between letters and digits. No token of theirs reaches over such a place,
 * and their patterns look ahead over white space only, so texts that are cut here have as many tokens as before. Cut anywhere
 * else, a text can have more tokens than its parts.
 */
const PLACES = /(?<=[\p{L}\p{N}])(?=[^\p{L}\p{N}\p{M}'])|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** Cuts a text into stretches whose tokens add up to those of the whole. */
export function cutText(text: string): readonly string[] {
  return text === "" ? [] : text.split(PLACES);
}

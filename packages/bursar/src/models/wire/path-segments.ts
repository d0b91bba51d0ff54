/**
 * The segments of a path as most servers see them: decoded, and only then split. Empty ones and dots are left out. The protocol and the
 * deployment of a request are both found in these, so that one spelling cannot show one of them and hide the other.
 */
export function segmentsOf(pathname: string): readonly string[] {
  const segments: string[] = [];
  for (const segment of decoded(pathname).split(/[/\\]/)) {
    // Parameters of a segment are no part of its name.
    const name = segment.replace(/;.*/s, "");
    if (name === "..") segments.pop();
    else if (name !== "" && name !== ".") segments.push(name);
  }
  return segments;
}

/** What is no UTF-8 stays encoded, but for the letters and signs beside it. */
function decoded(pathname: string): string {
  return pathname.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    }
  });
}

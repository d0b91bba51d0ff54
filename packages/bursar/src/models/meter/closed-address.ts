/** Ports of mail and other services, to which the standard of fetch lets nobody send anything. */
const CLOSED_PORTS: ReadonlySet<string> = new Set(
  [
    "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135",
    "137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995",
    "1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080",
  ].flatMap((line) => line.split(" ")),
);

/** Schemes that fetch has ways of its own for; all others are unknown to it. */
const KNOWN: ReadonlySet<string> = new Set(["http:", "https:", "data:", "blob:", "about:", "file:"]);

/** What fetch says of an address that it sends nothing to, and of which addresses it says so before anything else. */
const REASONS: ReadonlyMap<unknown, (address: URL) => boolean> = new Map([
  ["bad port", ({ protocol, port }) => /^https?:$/.test(protocol) && CLOSED_PORTS.has(port)],
  ["not implemented... yet...", ({ protocol }) => protocol === "file:"],
  ["unknown scheme", ({ protocol }) => !KNOWN.has(protocol)],
]);

/**
 * Whether a failure says that fetch sends nothing to this address. Neither is enough by itself: a server may have computed an answer
 * and lead on to such an address, which fails in the same words; and who brings a fetch of his own may send to any address.
 */
export function isClosed(address: string, { message, code }: { message?: unknown; code?: unknown }): boolean {
  const isSo = REASONS.get(message);
  return isSo !== undefined && code === undefined && URL.canParse(address) && isSo(new URL(address));
}

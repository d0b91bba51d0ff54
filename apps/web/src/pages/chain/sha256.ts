import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/**
 * SHA-256 in lowercase hex over the text's UTF-8 bytes. A browser has its own only on pages that it calls secure, which a
 * server in the next room without a certificate is not; and that one returns a promise for each text, which takes longer than hashing a link.
 */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

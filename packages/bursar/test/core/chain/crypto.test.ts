import { createHash, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ed25519, headSigner, sha256Hex } from "../../../src/runtime/crypto.js";

describe("sha256Hex", () => {
  test("agrees with the published vectors", () => {
    expect(sha256Hex("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  test("hashes text as its UTF-8 bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const bytes = new TextEncoder().encode(text);
        expect(sha256Hex(text)).toBe(sha256Hex(bytes));
        expect(sha256Hex(text)).toBe(createHash("sha256").update(bytes).digest("hex"));
      }),
    );
  });
});

describe("ed25519", () => {
  test("agrees with the first two vectors of RFC 8032", () => {
    const raw = (hex: string) => Buffer.from(hex, "hex").toString("base64url");
    const empty = {
      privateKey: raw("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
      publicKey: raw("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"),
      signature: raw(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155" +
          "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
      ),
    };

    expect(headSigner(empty.privateKey).publicKey).toBe(empty.publicKey);
    expect(ed25519.sign("", empty.privateKey)).toBe(empty.signature);
    expect(ed25519.verify("", empty.signature, empty.publicKey)).toBe(true);
    expect(
      ed25519.verify(
        "r",
        raw(
          "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da" +
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        raw("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
      ),
    ).toBe(true);
  });

  test("takes keys as PEM too", () => {
    const pair = generateKeyPairSync("ed25519", {
      privateKeyEncoding: { format: "pem", type: "pkcs8" },
      publicKeyEncoding: { format: "pem", type: "spki" },
    });
    const signer = headSigner(pair.privateKey);
    const signature = ed25519.sign("text", pair.privateKey);

    expect(ed25519.verify("text", signature, pair.publicKey)).toBe(true);
    expect(ed25519.rawPublicKey(pair.publicKey)).toBe(signer.publicKey);
    expect(ed25519.rawPublicKey(signer.publicKey)).toBe(signer.publicKey);
    expect(ed25519.verify("text", signature, signer.publicKey)).toBe(true);
    expect(ed25519.verify("other text", signature, signer.publicKey)).toBe(false);
    expect(signer.sign("text")).toBe(signature);
  });

  test("gives a new pair each time", () => {
    expect(ed25519.generateKeyPair().privateKey).not.toBe(ed25519.generateKeyPair().privateKey);
  });

  test("a signature that is none does not verify", () => {
    const { publicKey } = ed25519.generateKeyPair();

    for (const signature of ["", "AAAA", "A".repeat(86), "not base64 ☃"]) {
      expect(ed25519.verify("text", signature, publicKey)).toBe(false);
    }
  });

  test("a key that is none is refused without being quoted", () => {
    const rsa = generateKeyPairSync("rsa", {
      modulusLength: 1024,
      privateKeyEncoding: { format: "pem", type: "pkcs8" },
      publicKeyEncoding: { format: "pem", type: "spki" },
    });

    for (const key of ["", "sk-secret", "A".repeat(42), rsa.privateKey]) {
      expect(() => headSigner(key)).toThrow(/^the private key must be an Ed25519 key: 32 bytes in base64url, or PEM$/);
    }
    expect(() => ed25519.verify("text", "A".repeat(86), rsa.publicKey)).toThrow(
      /^the public key must be an Ed25519 key/,
    );
    expect(() => ed25519.rawPublicKey(rsa.privateKey)).toThrow(/expected a public key/);
  });
});

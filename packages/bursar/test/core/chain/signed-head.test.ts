import { webcrypto } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyHead } from "../../../src/core/chain/link.js";
import { type HeadVerifier, type SignedHead, signHead, verifyHead } from "../../../src/core/chain/signed-head.js";
import { verifyChain } from "../../../src/core/chain/verify.js";
import { ed25519, headSigner, sha256Hex } from "../../../src/runtime/crypto.js";
import { chain, plainChain } from "./arbitraries.js";

const keys = ed25519.generateKeyPair();
const signer = headSigner(keys.privateKey);
const verifier: HeadVerifier = { publicKeys: [keys.publicKey], verify: ed25519.verify };
const at = 1767225600000;

describe("a signed head", () => {
  test("is accepted by whoever trusts the key, for any chain", async () => {
    await fc.assert(
      fc.asyncProperty(chain, async ({ lines, head }) => {
        const signed = await signHead(head, at, signer);
        const checked = await verifyHead(JSON.parse(JSON.stringify(signed)), verifier);
        expect(checked).toEqual({ ok: true, head: signed });
        expect(await verifyChain(lines, { hash: sha256Hex, head: signed })).toMatchObject({ ok: true });
      }),
      { numRuns: 50 },
    );
  });

  test("signs exactly the canonical JSON of time, chain, hash and seq", async () => {
    const { head } = plainChain(2);
    const texts: string[] = [];
    const sign = (text: string) => {
      texts.push(text);
      return signer.sign(text);
    };

    const signed = await signHead(head, at, { publicKey: keys.publicKey, sign });

    expect(texts).toEqual([`{"at":${at},"chain":"run-7","hash":"${head.hash}","seq":1}`]);
    expect(signed).toEqual({ ...head, at, public_key: keys.publicKey, signature: await signer.sign(texts[0] ?? "") });
  });

  test("is refused after any change of any character", async () => {
    const signed = await signHead(plainChain(2).head, at, signer);
    const member = fc.constantFrom(...(Object.keys(signed) as (keyof SignedHead)[]));
    await fc.assert(
      fc.asyncProperty(
        member,
        fc.nat(),
        fc.constantFrom(..."0123456789abcdefABCXYZ_-= \n"),
        async (name, place, character) => {
          const old = `${signed[name]}`;
          const index = place % old.length;
          const changed = old.slice(0, index) + character + old.slice(index + 1);
          fc.pre(changed !== old && !(typeof signed[name] === "number" && Number(changed) === signed[name]));
          const value = typeof signed[name] === "number" ? Number(changed) : changed;
          expect(await verifyHead({ ...signed, [name]: value }, verifier)).toMatchObject({ ok: false });
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("is refused in every other spelling of the same signature", async () => {
    const signed = await signHead(plainChain(2).head, at, signer);
    const stem = signed.signature.slice(0, -1);
    const lenient: HeadVerifier = { ...verifier, verify: () => true };
    for (const last of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") {
      const signature = stem + last;
      const checked = await verifyHead({ ...signed, signature }, verifier);
      expect(checked.ok).toBe(signature === signed.signature);
      expect((await verifyHead({ ...signed, signature }, lenient)).ok).toBe("AQgw".includes(last));
      expect(ed25519.verify("text", signature, keys.publicKey)).toBe(false);
    }
    for (const signature of [`${signed.signature}=`, ` ${signed.signature}`, `${signed.signature}==`]) {
      expect(await verifyHead({ ...signed, signature }, verifier)).toMatchObject({ ok: false, reason: "malformed" });
    }
  });

  test("of another key is refused, though its own key is written in it", async () => {
    const other = headSigner(ed25519.generateKeyPair().privateKey);
    const signed = await signHead(plainChain(2).head, at, other);

    expect(await verifyHead(signed, verifier)).toMatchObject({ ok: false, reason: "unknown_key" });
    const renamed = { ...signed, public_key: keys.publicKey };
    expect(await verifyHead(renamed, verifier)).toMatchObject({ ok: false, reason: "bad_signature" });
    const both = { ...verifier, publicKeys: [keys.publicKey, other.publicKey] };
    expect(await verifyHead(signed, both)).toMatchObject({ ok: true });
  });

  test.each<[string, Record<string, unknown>]>([
    ["a further member", { note: "trust me" }],
    ["no signature", { signature: undefined }],
    ["a time that is no number", { at: "now" }],
    ["a chain that cannot be", { chain: "a#b" }],
    ["a seq that cannot be", { seq: 0.5 }],
  ])("with %s is malformed", async (_, change) => {
    const signed = await signHead(plainChain(2).head, at, signer);

    const checked = await verifyHead({ ...signed, ...change } as SignedHead, verifier);
    expect(checked).toMatchObject({ ok: false, reason: "malformed" });
  });

  test("can be made and checked with the cryptography of a browser", async () => {
    const pair = (await webcrypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
    const publicKey = Buffer.from(await webcrypto.subtle.exportKey("raw", pair.publicKey)).toString("base64url");
    const bytes = (text: string) => new TextEncoder().encode(text);
    const sign = async (text: string) =>
      Buffer.from(await webcrypto.subtle.sign("Ed25519", pair.privateKey, bytes(text))).toString("base64url");
    const verify = (text: string, signature: string) =>
      webcrypto.subtle.verify("Ed25519", pair.publicKey, Buffer.from(signature, "base64url"), bytes(text));

    const signed = await signHead(emptyHead("run-7"), at, { publicKey, sign });

    expect(await verifyHead(signed, { publicKeys: [publicKey], verify })).toMatchObject({ ok: true });
    expect(await verifyHead(signed, { publicKeys: [publicKey], verify: ed25519.verify })).toMatchObject({ ok: true });
  });

  test("is not made from nonsense", async () => {
    const { head } = plainChain(2);

    await expect(signHead({ ...head, seq: -2 }, at, signer)).rejects.toThrow(/seq/);
    await expect(signHead(head, 0.5, signer)).rejects.toThrow(/time of signing/);
    await expect(signHead(head, at, { publicKey: "", sign: () => "short" })).rejects.toThrow(/64 bytes/);
  });
});

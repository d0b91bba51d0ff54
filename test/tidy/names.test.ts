import { describe, expect, test } from "vitest";
import { findGlossaryFaults, readGlossary } from "./glossary.js";
import { findForeignFileNames, findForeignNames, findIdleExceptions, wordsOf } from "./names.js";
import { parse } from "./source.js";

const glossary = [
  "| word | meaning | not |",
  "|---|---|---|",
  "| budget | A node of a tree. | quota, wallet |",
  "| extension | An addition to a limit. | top-up |",
  "| edge | Where units change. | |",
].join("\n");
const terms = readGlossary(glossary);

describe("a glossary", () => {
  test("is read from its tables", () => {
    expect(terms).toEqual([
      { word: "budget", meaning: "A node of a tree.", not: ["quota", "wallet"], line: 3 },
      { word: "extension", meaning: "An addition to a limit.", not: ["top-up"], line: 4 },
      { word: "edge", meaning: "Where units change.", not: [], line: 5 },
    ]);
    expect(findGlossaryFaults("G.md", terms)).toEqual([]);
  });

  test.for([
    ["no table", "# Words", "G.md:1 has no table"],
    ["a word without a sentence", "| budget | a node | |", "G.md:1 does not explain budget"],
    ["a word listed twice", "| a | An a. | |\n| a | Another. | |", "G.md:2 lists a, as line 1 does"],
    ["a synonym that is a word", "| a | An a. | b |\n| b | A b. | |", "G.md:2 lists b, as line 1 does"],
    ["a synonym of two words", "| a | An a. | c |\n| b | A b. | c |", "G.md:2 lists c, as line 1 does"],
  ] as const)("has a fault with %s", ([, text, fault]) => {
    expect(findGlossaryFaults("G.md", readGlossary(text))).toEqual([expect.stringContaining(fault)]);
  });
});

describe("a foreign name is that of", () => {
  test.for([
    ["a function", "function openWallet() {}"],
    ["a parameter", "function open(wallet: string) {}"],
    ["a parameter with a default", "const open = (wallet = 1) => wallet;"],
    ["a variable", "const max_wallet = 1;"],
    ["a constant", "const MAX_WALLET = 1;"],
    ["a class", "class WalletStore {}"],
    ["an interface", "interface Wallet {}"],
    ["a type", "type WalletId = string;"],
    ["a type parameter", "type Id<Wallet> = Wallet;"],
    ["a field", "class A { readonly wallet = 1; }"],
    ["a private field", "class A { #wallet = 1; }"],
    ["a method", "class A { toWallet() {} }"],
    ["a member of an interface", "interface A { wallets(): void }"],
    ["a quoted member", 'interface A { "wallet-id": string }'],
    ["a renamed import", 'import { a as wallet } from "a";'],
    ["a renamed export", "const a = 1; export { a as wallet };"],
    ["a renamed part", "const { a: wallet } = b;"],
    ["an element", "const [wallet] = b;"],
    ["a rest", "const [...wallets] = b;"],
    ["a failure", "try {} catch (wallet) {}"],
  ] as const)("%s", ([, text]) => {
    expect(findForeignNames(parse("a.ts", text), terms, {})).toEqual([
      expect.stringMatching(/^a\.ts:1 names \S*wallet\S*; we say budget, not wallet/i),
    ]);
  });

  test("something of two words", () => {
    expect(findForeignNames(parse("a.ts", "const topUps = 1;"), terms, {})).toEqual([
      "a.ts:1 names topUps; we say extension, not top up (GLOSSARY.md)",
    ]);
  });

  test.for([
    ["a part of another word", "const quotation = 1;"],
    ["an import as it is called", 'import { wallet } from "a";'],
    ["a part as it is called", "const { wallet, quota = 1 } = b;"],
    ["a use", "a.wallet = b({ wallet: 1 }, quota[wallet]);"],
    ["a text", 'const a = "wallet"; // wallet'],
    ["the words apart", "const upTop = 1;"],
  ] as const)("not %s", ([, text]) => {
    expect(findForeignNames(parse("a.ts", text), terms, {})).toEqual([]);
  });

  test("not an exception", () => {
    expect(findForeignNames(parse("a.ts", "const wallet = 1;"), terms, { wallet: "theirs" })).toEqual([]);
    expect(findForeignFileNames(["wallet/a.ts"], terms, { wallet: "theirs" })).toEqual([]);
  });

  test("a file or a folder, once", () => {
    expect(findForeignFileNames(["src/quotas/a.ts", "src/quotas/b.ts", "src/my-wallet.ts"], terms, {})).toEqual([
      "src/quotas:1 names quotas; we say budget, not quota (GLOSSARY.md)",
      "src/my-wallet.ts:1 names my-wallet.ts; we say budget, not wallet (GLOSSARY.md)",
    ]);
  });
});

test("an exception is idle when nothing has that name", () => {
  const sources = [parse("a.ts", "const wallet = 1;")];

  expect(findIdleExceptions(sources, ["quota.md"], { wallet: "theirs", "quota.md": "theirs" })).toEqual([]);
  expect(findIdleExceptions(sources, [], { quota: "theirs" })).toEqual([expect.stringContaining("excepts quota")]);
});

test.for([
  ["maxCost_usd", "max cost usd"],
  ["HTTPServer-2", "http server 2"],
  ["DEFAULT_BUDGET", "default budget"],
  ["#private", "private"],
  ["sha256Hex", "sha 256 hex"],
] as const)("the words of %s are %s", ([name, words]) => {
  expect(wordsOf(name).join(" ")).toBe(words);
});

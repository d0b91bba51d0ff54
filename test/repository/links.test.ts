import { describe, expect, test } from "vitest";
import { findBrokenLinks, findUnknownScripts } from "./links.js";

const guide =
  '# The guide\n\n## What it `costs`, and *why*\n\n## Again\n\n## Again\n\n<a id="by-hand"></a>\n\n```sh\n# no heading\n```\n';
const files = ["README.md", "docs/GUIDE.md", "packages/bursar/src/index.ts"];

function broken(text: string): readonly string[] {
  return findBrokenLinks(
    "README.md",
    new Map([
      ["README.md", text],
      ["docs/GUIDE.md", guide],
    ]),
    files,
  );
}

describe("a broken link is", () => {
  test.for([
    ["one to a file that is not there", "[a](docs/NONE.md)", "no docs/NONE.md"],
    ["one in another case", "[a](docs/guide.md)", "no docs/guide.md"],
    ["one to a heading that is not there", "[a](docs/GUIDE.md#none)", "no heading #none"],
    ["one to a heading of the page itself", "[a](#none)", "no heading #none"],
    ["one to what only looks like a heading", "[a](docs/GUIDE.md#no-heading)", "no heading #no-heading"],
    ["one of several", "[a](docs/GUIDE.md) and [b](NONE.md)", "no NONE.md"],
    ["an image", "![a](docs/none.svg)", "no docs/none.svg"],
    ["a reference", "[a]: ./NONE.md", "no NONE.md"],
    ["a tag", '<img src="none.png">', "no none.png"],
    ["one out of the repository", "[a](../secret.md)", "no ../secret.md"],
  ] as const)("%s", ([, text, complaint]) => {
    expect(broken(`\n${text}\n`)).toEqual([
      expect.stringMatching(new RegExp(`^README\\.md:2 links to .*${complaint}`)),
    ]);
  });

  test.for([
    "[a](docs/GUIDE.md)",
    "[a](./docs/GUIDE.md#what-it-costs-and-why)",
    "[a](docs/GUIDE.md#again-1) [b](docs/GUIDE.md#by-hand)",
    "[a](docs/) [b](packages/bursar)",
    "[a](/docs/GUIDE.md 'with a title')",
    "[a](packages/bursar/src/index.ts#L1)",
    "[a](https://example.com/NONE.md) <mailto:a@example.com>",
    "`[a](NONE.md)`",
    "```md\n[a](NONE.md)\n```",
  ])("not %s", (text) => {
    expect(broken(text)).toEqual([]);
  });
});

describe("an unknown script is", () => {
  const scripts = { root: ["check", "check:types", "test"], workspaces: ["dev"] };

  test.for([
    ["npm run none", "none"],
    ["`npm run check:none`", "check:none"],
    ["npm start", "start"],
    ["npm run --silent none -- --watch", "none"],
    ["npm run dev", "dev"],
    ["npm run -w apps/cli check", "check"],
    ["npm test && npm run none.", "none"],
  ] as const)("that of %s", ([text, script]) => {
    expect(findUnknownScripts("README.md", `\n${text}`, scripts)).toEqual([
      expect.stringContaining(`README.md:2 says npm run ${script},`),
    ]);
  });

  test.for([
    "npm run check",
    "Then `npm run check:types`.",
    "npm test",
    "npm run -w apps/cli dev",
    "npm ci",
    "npm install bursar",
  ])("not that of %s", (text) => {
    expect(findUnknownScripts("README.md", text, scripts)).toEqual([]);
  });
});

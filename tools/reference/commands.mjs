import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const HELPS = fileURLToPath(new URL("helps.mjs", import.meta.url));

/** What `bursar` and each of its commands say with `--help`. */
export function writeCommandsPage() {
  const env = { ...process.env, NO_COLOR: "1", COLUMNS: "80", BURSAR_STORE: "", BURSAR_CONFIG: "" };
  const all = JSON.parse(execFileSync(process.execPath, [HELPS], { env, encoding: "utf8", timeout: 100_000 }));
  const parts = all.map(({ words, text }) => {
    const title = words.length === 0 ? "bursar" : `bursar ${words.join(" ")}`;
    return `${words.length < 2 ? "##" : "###"} ${title}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``;
  });
  return `# Commands\n\nWhat each command says with \`--help\`.\n\n${parts.join("\n\n")}\n`;
}

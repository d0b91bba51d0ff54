import { spawn } from "node:child_process";
import { quoted } from "../src/app/programs/program-needs.js";
import { MAIN } from "./run.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const ESCAPES = /\x1b\[[0-9;?]*[A-Za-z]/g;
const PATIENCE_MS = 60_000;

/** The built command in a real terminal of 80 x 24, which `script` from util-linux makes. */
export class Pty {
  raw = "";
  /** The exit code of the command. */
  readonly ended: Promise<number | null>;
  private readonly child;
  private looked = 0;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    const { FORCE_COLOR: _, BURSAR_STORE: __, ...inherited } = process.env;
    const command = [process.execPath, MAIN, ...args].map(quoted).join(" ");
    this.child = spawn("script", ["-qefc", `stty cols 80 rows 24; exec ${command}`, "/dev/null"], {
      env: { ...inherited, TERM: "xterm-256color", ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.child.stdout.setEncoding("utf8");
    this.child.stdout.on("data", (text: string) => {
      this.raw += text;
    });
    this.ended = new Promise((resolve, reject) => {
      // Not "exit": what was written last may come after that.
      this.child.once("close", resolve);
      this.child.once("error", () => reject(new Error("there is no `script`; it comes with util-linux")));
    });
  }

  press(keys: string): void {
    this.child.stdin.write(keys);
  }

  /** Waits for a text that is written after what was waited for before. */
  async until(text: string): Promise<void> {
    for (let waited = 0; waited < PATIENCE_MS; waited += 20) {
      const at = this.raw.slice(this.looked).replace(ESCAPES, "").indexOf(text);
      if (at >= 0) {
        this.looked = this.raw.length;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`${text} was not shown; the last was:\n${this.raw.slice(-4000).replace(ESCAPES, "")}`);
  }

  /** Waits for the same by a pattern, and gives what fits it. */
  async hears(pattern: RegExp): Promise<string> {
    for (let waited = 0; waited < PATIENCE_MS; waited += 20) {
      const [found] = pattern.exec(this.raw.slice(this.looked).replace(ESCAPES, "")) ?? [];
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`${pattern} was not shown; the last was:\n${this.raw.slice(-4000).replace(ESCAPES, "")}`);
  }

  /** Whether what was on the terminal before is there again, with its cursor. */
  get isRestored(): boolean {
    const isBack = this.raw.lastIndexOf("\x1b[?1049l") > this.raw.lastIndexOf("\x1b[?1049h");
    return isBack && this.raw.lastIndexOf("\x1b[?25h") > this.raw.lastIndexOf("\x1b[?25l");
  }
}

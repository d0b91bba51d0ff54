import { ATTEMPT_JS, type HostileProgram } from "../hostile-program.js";

const language = "javascript";
const SMALL = { limits: { storage_bytes: 200_000, files: 200 } };

/** Ways out of the session's files from JavaScript, and ways to fill them up. */
export const javascriptFiles: readonly HostileProgram[] = [
  {
    name: "absolute paths lead into the session's own tree",
    language,
    code: `${ATTEMPT_JS}
for (const path of ["/etc/passwd", "@outside@/canary.txt", "/proc/self/environ", "/proc/self/maps", "/dev/mem", "/dev/control"]) attempt(() => std.loadFile(path));
attempt(() => std.open("@outside@/escaped", "w"));
attempt(() => os.mkdir("@outside@/escaped"));
attempt(() => os.readdir("@outside@"));
attempt(() => os.stat("/etc"));`,
    ends: "well",
    says: "refused\n".repeat(10),
  },
  {
    name: "two dots stop at the root",
    language,
    code: `${ATTEMPT_JS}
attempt(() => std.loadFile("../".repeat(30) + "etc/passwd"));
attempt(() => std.loadFile("/app/../../../../..@outside@/canary.txt"));
attempt(() => std.loadFile("../".repeat(3000) + "etc/passwd"));
attempt(() => os.chdir("/../../..@outside@"));
attempt(() => std.open("..//..//..@outside@/escaped", "w"));`,
    ends: "well",
    says: "refused\n".repeat(5),
  },
  {
    name: "a chain of symbolic links that ends in two dots",
    language,
    code: `${ATTEMPT_JS}
os.mkdir("/app/jail");
os.symlink(".", "/app/jail/lnk");
os.symlink("lnk/..", "/app/jail/out");
os.symlink("out/..", "/app/jail/further");
os.symlink("/../..", "/app/jail/up");
for (const way of ["out", "further", "up"]) {
  attempt(() => std.loadFile("/app/jail/" + way + "@outside@/canary.txt"));
  attempt(() => std.loadFile("/app/jail/" + way + "/../../..@outside@/canary.txt"));
  attempt(() => os.realpath("/app/jail/" + way + "@outside@/canary.txt"));
}`,
    ends: "well",
    says: "refused\n".repeat(9),
  },
  {
    name: "symbolic links to the host, in circles and in rows",
    language,
    code: `${ATTEMPT_JS}
["/etc/passwd", "@outside@/canary.txt", "../../../../etc/passwd", "link3", "@outside@"].forEach((target, at) => {
  os.symlink(target, "/app/link" + at);
  attempt(() => std.loadFile("/app/link" + at));
});
for (let at = 0; at < 100; at++) os.symlink("row" + (at + 1), "/app/row" + at);
attempt(() => std.loadFile("/app/row0"));
attempt(() => os.realpath("/app/row0"));
attempt(() => os.symlink("x".repeat(100000), "/app/huge"));`,
    ends: "well",
    says: "refused\n".repeat(8),
  },
  {
    name: "renames and removes what the session stands on",
    language,
    code: `${ATTEMPT_JS}
for (const path of ["/app", "/tmp", "/data", "/"]) attempt(() => os.rename(path, "@outside@/escaped"));
attempt(() => os.rename("/app", "/app/inside"));
attempt(() => os.rename("@outside@/canary.txt", "/app/canary"));
os.rename("/app", "/elsewhere");
for (const path of ["/tmp", "/data", "/elsewhere", "/"]) os.remove(path);
console.log("tried");`,
    ends: "well",
  },
  {
    name: "modules from outside",
    language,
    code: `
for (const name of ["node:fs", "fs", "/etc/passwd", "file://@outside@/canary.txt", "@outside@/canary.txt", "../../../../../../etc/passwd",
                    "https://127.0.0.1/x.js", "data:text/javascript,1", "", "\\0", "__proto__", "constructor", "x".repeat(100000)]) {
  try { await import(name); console.log("did", name); } catch { console.log("refused"); }
}`,
    ends: "well",
    says: "refused\n".repeat(13),
  },
  {
    name: "the environment is the session's own",
    language,
    code: `
import * as std from "std";
console.log(std.getenv("@secret@"), std.getenv("PATH"), JSON.stringify(std.getenviron()), std.getenv("__proto__"), std.getenv("constructor"));
console.log(typeof process, typeof require, typeof Deno, typeof Bun, typeof global, typeof window, typeof fetch);`,
    ends: "well",
    says: `undefined undefined {"HOME":"/app"} undefined undefined\n${"undefined ".repeat(7).trim()}\n`,
  },
  {
    name: "writes more bytes than it may",
    language,
    options: SMALL,
    code: `
import * as std from "std";
const file = std.open("/app/big", "w");
const chunk = "x".repeat(10000);
try { for (let at = 0; at < 1000; at++) { file.puts(chunk); file.flush(); } console.log(file.error()); } catch { console.log(true); }
import * as os from "os";
console.log(os.stat("/app/big")[0].size <= 200000);`,
    ends: ["well", "badly"],
  },
  {
    name: "makes files large without writing to them",
    language,
    options: SMALL,
    code: `${ATTEMPT_JS}
for (const where of [2 ** 30, 2 ** 40, Number.MAX_SAFE_INTEGER, -1, NaN]) {
  const fd = os.open("/app/far", os.O_RDWR | os.O_CREAT);
  os.seek(fd, where, std.SEEK_SET);
  os.write(fd, new ArrayBuffer(8), 0, 8);
  os.close(fd);
}
console.log(os.stat("/app/far")[0].size < 200000);`,
    ends: ["well", "badly"],
  },
  {
    name: "makes more files and opens more than it may",
    language,
    options: SMALL,
    code: `
import * as os from "os";
let made = 0;
while (made < 1000 && os.mkdir("/app/" + "n".repeat(240) + made) === 0) made++;
console.log(made < 200);
os.remove("/app/" + "n".repeat(240) + 0);
let held = 0;
while (held < 1000 && os.open("/app/file", os.O_RDWR | os.O_CREAT) >= 0) held++;
console.log(held < 1000);`,
    ends: "well",
    says: "true\ntrue\n",
  },
  {
    name: "descriptors that are none",
    language,
    code: `
import * as os from "os";
const buffer = new ArrayBuffer(8);
for (const fd of [-1, 0, 1, 2, 3, 4, 99, 1e9, NaN, {}, "x", null]) {
  for (const use of [() => os.read(fd, buffer, 0, 8), () => os.write(fd, buffer, 0, 0), () => os.seek(fd, 0, 0), () => os.close(fd)]) { try { use(); } catch {} }
}
for (const [offset, length] of [[-1, 8], [0, 1e9], [9, 1], [1e20, 1], [NaN, NaN]]) { try { os.write(1, buffer, offset, length); } catch {} }`,
    ends: ["well", "badly"],
  },
];

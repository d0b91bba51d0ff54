import { describe, expect, test } from "vitest";
import { Bench } from "./fixture.js";

const IMPORTS = `import * as std from "std"; import * as os from "os";\n`;

async function print(code: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  return new Bench(files).print(IMPORTS + code);
}

describe("std files", () => {
  test("are written, read back, appended to and read by lines", async () => {
    const bench = new Bench();
    const out = await bench.print(`${IMPORTS}
      const file = std.open("log.txt", "w");
      file.puts("first\\n", "zweite Zeile: é\\n"); file.printf("%03d\\n", 7); file.close();
      const more = std.open("log.txt", "a"); more.puts("last"); more.close();
      const back = std.open("/app/log.txt", "r");
      for (let line = back.getline(); line !== null; line = back.getline()) console.log(line);
      console.log(back.eof(), back.tell(), std.loadFile("log.txt").length);
    `);

    expect(out).toBe("first\nzweite Zeile: é\n007\nlast\ntrue 31 30\n");
    expect(bench.read("/app/log.txt")).toBe("first\nzweite Zeile: é\n007\nlast");
  });

  test("seek, read and write bytes", async () => {
    const out = await print(`
      const file = std.open("bytes", "w+");
      file.write(new Uint8Array([1, 2, 3, 4, 5]).buffer, 1, 3); file.putByte(9);
      file.seek(-2, std.SEEK_END); console.log(file.getByte(), file.getByte(), file.getByte(), file.eof());
      file.seek(0, std.SEEK_SET); const into = new Uint8Array(8);
      console.log(file.read(into.buffer, 2, 4), into, file.tell());
      file.seek(1, std.SEEK_SET); file.putByte(77); file.seek(0, std.SEEK_SET);
      console.log(new Uint8Array(file.readAsArrayBuffer()));
    `);

    expect(out).toBe(
      "4 9 -1 true\n4 Uint8Array(8) [\n  0, 0, 2, 3,\n  4, 9, 0, 0\n] 4\nUint8Array(4) [ 2, 77, 4, 9 ]\n",
    );
  });

  test("say what is wrong", async () => {
    const out = await print(`
      const why = {};
      console.log(std.open("missing", "r", why), why.errno, std.strerror(why.errno), std.loadFile("missing"));
      std.writeFile("there", "x"); console.log(std.open("there", "wx", why), why.errno === std.Error.EEXIST);
      console.log(std.open("/app", "w", why), why.errno === std.Error.EISDIR);
      for (const wrong of [() => std.open("a", "q"), () => std.writeFile("/none/x", ""), () => std.open("there", "r").puts("x"),
          () => { const file = std.open("there", "r"); file.close(); file.getline(); }]) {
        try { wrong(); } catch (error) { console.log(error.name, error.message, error.errno); }
      }
    `);

    expect(out).toBe(
      [
        "null 2 No such file or directory null",
        "null true",
        "null true",
        "TypeError invalid file mode: q undefined",
        "Error No such file or directory: /none/x 2",
        "TypeError the file is not open for writing undefined",
        "TypeError the file is closed undefined",
        "",
      ].join("\n"),
    );
  });

  test("stay open from one program to the next", async () => {
    const bench = new Bench({ "/app/lines": "one\ntwo\nthree\n" });
    await bench.print(`${IMPORTS} globalThis.file = std.open("lines", "r"); file.getline();`);

    expect(await bench.print(`console.log(file.getline())`)).toBe("two\n");
  });
});

describe("std", () => {
  test.for([
    ["%d %5d|%-5d|%05d|%+d", "1, 2, 3, 4, 5", "1     2|3    |00004|+5"],
    ["%x %X %#x %o %u", "255, 255, 255, 8, -1", "ff FF 0xff 10 4294967295"],
    [
      "%f %.2f %8.3f %e %g %g %g",
      "1.5, 2.345, 3.14159, 12345.678, 0.0001, 1e-7, 1234567",
      "1.500000 2.35    3.142 1.234568e+04 0.0001 1e-07 1.23457e+06",
    ],
    ["%s|%10s|%-10s|%.2s|%c%c", "'a', 'b', 'c', 'defg', 'x', 65", "a|         b|c         |de|xA"],
    ["%*d %.*f %%", "5, 1, 1, 2.55", "    1 2.5 %"],
    ["%d %i %f", "1.9, -1.9, Infinity", "1 -1 inf"],
  ] as const)("sprintf %s", async ([template, args, expected]) => {
    expect(await print(`console.log(std.sprintf("${template}", ${args}))`)).toBe(`${expected}\n`);
  });

  test("prints, evaluates, collects garbage and knows its environment", async () => {
    const bench = new Bench(
      { "/app/script.js": "var loaded = 5; loaded + 1" },
      { environment: { HOME: "/app", X: "1" } },
    );
    const out = await bench.print(`${IMPORTS}
      std.puts("a", 1, "\\n"); std.printf("%s\\n", "b"); std.out.puts("c\\n"); std.gc();
      console.log(std.evalScript("let made = 2; made * 2"), std.evalScript("made"), std.loadScript("script.js"), globalThis.loaded);
      std.setenv("NEW", "n"); std.unsetenv("X");
      console.log(std.getenv("HOME"), std.getenv("X"), std.getenv("NONE"), std.getenv("__proto__"), std.getenviron().NEW);
    `);

    expect(out).toBe("a1\nb\nc\n4 2 6 5\n/app undefined undefined undefined n\n");
  });

  test("err goes to stderr", async () => {
    expect((await new Bench().run(`${IMPORTS} std.err.puts("oops")`)).err).toBe("oops");
  });

  test("encodes and decodes text", async () => {
    expect(
      await print(`console.log(new TextEncoder().encode("é"), new TextDecoder().decode(new Uint8Array([195, 169])))`),
    ).toBe("Uint8Array(2) [ 195, 169 ] é\n");
  });
});

describe("os", () => {
  test("lists, describes, makes, renames and removes, as QuickJS does", async () => {
    const out = await print(
      `
      console.log(os.readdir("/app"), os.readdir("/none"), os.readdir("a.txt"));
      console.log(os.mkdir("d"), os.mkdir("d"), os.rename("a.txt", "d/b.txt"), os.remove("a.txt"), os.remove("d"));
      const [stat, errno] = os.stat("d/b.txt"); std.writeFile("new", "");
      console.log(errno, os.stat("new")[0].mtime, stat.size, (stat.mode & os.S_IFMT) === os.S_IFREG, os.stat("none"));
      console.log((os.stat("d")[0].mode & os.S_IFMT) === os.S_IFDIR);
      console.log(os.symlink("d/b.txt", "link"), os.readlink("link"), os.readlink("d"), os.stat("link")[0].size);
      console.log((os.lstat("link")[0].mode & os.S_IFMT) === os.S_IFLNK, os.realpath("./d/../link"), os.realpath("none"));
      console.log(os.chdir("d"), os.getcwd(), std.loadFile("b.txt"), os.chdir("b.txt"), os.chdir("/none"), os.remove("b.txt"));
    `,
      { "/app/a.txt": "hello" },
    );

    expect(out).toBe(
      [
        "[ [ '.', '..', 'a.txt' ], 0 ] [ [], 2 ] [ [], 20 ]",
        "0 -17 0 -2 -39",
        "0 1700000000000 5 true [ null, 2 ]",
        "true",
        "0 [ 'd/b.txt', 0 ] [ '', 22 ] 5",
        "true [ '/app/d/b.txt', 0 ] [ '', 2 ]",
        "0 [ '/app/d', 0 ] hello -20 -2 0",
        "",
      ].join("\n"),
    );
  });

  test("has descriptors", async () => {
    const out = await print(`
      const fd = os.open("x", os.O_RDWR | os.O_CREAT | os.O_TRUNC);
      console.log(fd, os.write(fd, new Uint8Array([1, 2, 3]).buffer, 0, 3), os.seek(fd, 1, std.SEEK_SET));
      const into = new Uint8Array(4);
      console.log(os.read(fd, into.buffer, 0, 4), into, os.close(fd), os.close(fd), os.read(fd, into.buffer, 0, 1));
      console.log(os.open("none", os.O_RDONLY), os.isatty(1), os.platform);
    `);

    expect(out).toBe("3 3 1\n2 Uint8Array(4) [ 2, 3, 0, 0 ] 0 -9 -9\n-2 false wasi\n");
  });

  test("sleeps and sets timers on the session's clock", async () => {
    const out = await print(`
      const start = Date.now();
      os.sleep(1000); console.log(Date.now() - start);
      await os.sleepAsync(500); console.log(Date.now() - start);
      const gone = os.setTimeout(() => console.log("gone"), 10); os.clearTimeout(gone);
      os.setTimeout((word) => console.log("timer", word), 3_600_000, "an hour later");
    `);

    expect(out).toBe("1000\n1500\ntimer an hour later\n");
  });

  test.for([
    `os.exec(["ls"])`,
    `std.popen("ls", "r")`,
    `new os.Worker("./x.js")`,
    `os.socket()`,
    `std.urlGet("http://example.com")`,
    `os.kill(1, 9)`,
    `os.pipe()`,
    `os.signal(2, null)`,
  ])("%s does not exist, and says so", async (code) => {
    const { err } = await new Bench().run(`${IMPORTS}${code}`);

    expect(err).toMatch(/^TypeError: (?:os|std)\.\w+ does not exist in the sandbox: /);
  });
});

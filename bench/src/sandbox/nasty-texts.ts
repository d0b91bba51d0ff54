/** Pieces that make a careless reader of standard error go over the whole again and again, when they are repeated. */
export const NASTY_PIECES: Readonly<Record<string, string>> = {
  "line ends": "\n",
  "short lines": "a\n",
  "one line": "x",
  "names of exceptions": "Error\n",
  "names of exceptions without an end": "Error",
  "long names": `${"a".repeat(199)}:\n`,
  "indented lines": "    \t  File x, line 1, in y\n",
  dots: "a.",
  quotes: " '",
  "slashes and dots": "/..",
  "paths that are missing": "FileNotFoundError: [Errno 2] No such file or directory: '/etc/passwd'\n",
  "modules that are missing": "ModuleNotFoundError: No module named 'openpyxl'\n",
  "beginnings of a missing module": "No module named ",
  imports: "import a, openpyxl, c\n",
  "imports without an end": "import ",
  causes: "ValueError: 7\nDuring handling of the above exception, another exception occurred:\n",
  "beginnings of causes": "During handling of the above exceptio\n",
  "promises that failed": "Possibly unhandled promise rejection: TypeError: x is not iterable\n",
  "names of packages": "openpyxl imported PyPDF2 jinja2 ",
  "memory errors": "MemoryError\nSyntaxError: invalid syntax\n",
  "characters beyond ASCII": "é\u2028\ud800\n",
};

export function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

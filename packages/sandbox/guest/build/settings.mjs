// Everything that is decided about the guest: which tools, which flags, which parts.

/** Debian's packages that leave their mark on the result. Their versions are part of the build's hash. */
export const COMPILER_PACKAGES = [
  "clang-19",
  "lld-19",
  "llvm-19",
  "wasi-libc",
  "libclang-rt-19-dev-wasm32",
  "python3.11-minimal",
];

/** What else has to be installed, with the program that tells whether it is. */
export const TOOLS = {
  "clang-19": "/usr/bin/clang-19",
  "lld-19": "/usr/bin/wasm-ld-19",
  "llvm-19": "/usr/bin/llvm-ar-19",
  "wasi-libc": "/usr/lib/wasm32-wasi/libc.a",
  "libclang-rt-19-dev-wasm32": "/usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a",
  "python3.11": "/usr/bin/python3.11",
  "libc6-dev": "/usr/include/stdlib.h",
  "tcl8.6": "/usr/bin/tclsh8.6",
  make: "/usr/bin/make",
  bzip2: "/usr/bin/bzip2",
  "xz-utils": "/usr/bin/xz",
};

/** Where the interpreter lives inside of the guest; the standard library lies below. */
export const HOME = "/python";
export const STDLIB_FOLDER = `${HOME}/lib/python3.11`;

/**
 * Room for C code that recurses through Python, such as `sorted` with a key that sorts: at the recursion limit, the
 * worst that we found takes 710 kB. More would be part of every session's memory.
 */
export const STACK_BYTES = 1024 * 1024;

/** What the host has to have on its own stack for CPython's recursion limit: what Node gives to a worker anyway. */
export const HOST_STACK_MEGABYTES = 4;

/** 8 February 2023, when CPython 3.11.2 came out: what the guest says it was built on. */
export const SOURCE_DATE_EPOCH = 1_675_814_400;

/** What the host uses. `memory` and `_start` are exported anyway. */
export const EXPORTS = ["memory", "__indirect_function_table", "__stack_pointer", "_start", "bursar_run"];

/**
 * What the bytes of the meter's profile mean, as the sandbox has it in `wasm/profile.ts`. It stands here too, so that guests are built
 * anew when it changes.
 */
export const PROFILE_FORMAT = 1;

export const COMPILER = "clang-19 --target=wasm32-wasi";
export const OPTIMIZATION = "-O3";

export const EMULATED = ["-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_GETPID", "-D_WASI_EMULATED_PROCESS_CLOCKS"];

/** CPython lowers its recursion limit on WASI, for runtimes with small stacks; here it is what programs expect. */
export const PYTHON_FLAGS = ["-g0", "-Wno-int-conversion", "-DPy_DEFAULT_RECURSION_LIMIT=1000"];

/** CPython has an allocator for small objects; it is off by default because WASI has no mmap, but malloc will do. */
export const PYTHON_OPTIONS = [
  "--with-pymalloc",
  "--without-ensurepip",
  "--disable-test-modules",
  "--disable-ipv6",
  `--prefix=${HOME}`,
];

/** One process, one thread, no shared memory, nothing to load at run time. */
export const SQLITE_FLAGS = [
  "-DSQLITE_THREADSAFE=0",
  "-DSQLITE_OMIT_LOAD_EXTENSION",
  "-DSQLITE_OMIT_WAL",
  "-DSQLITE_MAX_MMAP_SIZE=0",
  "-DSQLITE_DISABLE_LFS",
  "-DSQLITE_DISABLE_DIRSYNC",
  "-DSQLITE_ENABLE_FTS5",
  "-DSQLITE_ENABLE_RTREE",
  "-DSQLITE_ENABLE_MATH_FUNCTIONS",
  "-DSQLITE_ENABLE_COLUMN_METADATA",
];

/** Modules that a program may count on; the check at the end imports each of them. */
export const PROMISED_MODULES = [
  ..."array asyncio base64 binascii bisect bz2 calendar cmath codecs collections configparser contextlib copy".split(
    " ",
  ),
  ..."csv dataclasses datetime decimal difflib email.message enum fractions functools glob gzip hashlib heapq".split(
    " ",
  ),
  ..."hmac html.parser http.client inspect io itertools json logging math operator os pathlib pickle pprint".split(" "),
  ..."queue random re secrets select shutil socket sqlite3 statistics string struct subprocess tarfile".split(" "),
  ..."tempfile textwrap threading time timeit tomllib traceback types typing unicodedata unittest".split(" "),
  ..."urllib.parse uuid wave weakref xml.dom.minidom xml.etree.ElementTree xml.sax zipfile zipimport zlib".split(" "),
  ..."zoneinfo _asyncio _blake2 _bursar _csv _datetime _decimal _elementtree _json _md5 _pickle _sha1".split(" "),
  ..."_sha256 _sha512 _sha3 _sqlite3 _struct pyexpat".split(" "),
];

/** What CPython has elsewhere and WASI cannot: shared libraries, threads, processes, terminals, TLS. */
export const ABSENT_MODULES =
  "_ctypes _curses _lzma _multiprocessing _posixsubprocess _ssl fcntl grp mmap pwd readline resource termios".split(
    " ",
  );

/** Parts of the standard library that make no sense in a sandbox, or are there to test or to package CPython itself. */
export const OMITTED_FILES = [
  ..."ctypes/ curses/ distutils/ ensurepip/ idlelib/ lib2to3/ msilib/ pydoc_data/ test/ tkinter/".split(" "),
  ..."turtledemo/ venv/ unittest/test/ __phello__/ site-packages/".split(" "),
  ..."__hello__.py _aix_support.py _bootsubprocess.py _osx_support.py antigravity.py turtle.py".split(" "),
];

/** What is linked in, under which licence, and where its text stands: in a source, or in a package's documentation. */
export const LICENCES = [
  { component: "CPython", spdx: "PSF-2.0", source: "python3.11", path: "LICENSE" },
  { component: "CPython incorporated", spdx: "PSF-2.0", source: "python3.11", path: "Doc/license.rst" },
  { component: "Expat", version: "2.5.0", spdx: "MIT", source: "python3.11", path: "Modules/expat/COPYING" },
  {
    component: "libmpdec",
    version: "2.5.1",
    spdx: "BSD-2-Clause",
    source: "python3.11",
    path: "Modules/_decimal/libmpdec/mpdecimal.h",
  },
  { component: "zlib", spdx: "Zlib", source: "zlib", path: "LICENSE" },
  { component: "bzip2", spdx: "bzip2-1.0.6", source: "bzip2", path: "LICENSE" },
  { component: "SQLite", spdx: "blessing", source: "sqlite3", path: "LICENSE.md" },
  {
    component: "wasi-libc",
    spdx: "MIT AND Apache-2.0 WITH LLVM-exception AND BSD-2-Clause AND BSD-3-Clause AND ISC AND CC0-1.0",
    package: "wasi-libc",
    path: "/usr/share/doc/wasi-libc/copyright",
  },
  {
    component: "compiler-rt",
    spdx: "Apache-2.0 WITH LLVM-exception",
    package: "libclang-rt-19-dev-wasm32",
    path: "/usr/share/doc/libclang-rt-19-dev-wasm32/copyright",
  },
];

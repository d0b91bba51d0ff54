import type { GuestFeatures } from "../guests/guest-manifest.js";

/** What the CPython on npm has, and what it has not: the same as the one that is built here, as far as programs go. */
export const NPM_PYTHON_FEATURES: GuestFeatures = {
  modules: [
    ..."array asyncio base64 binascii bisect bz2 calendar cmath codecs collections configparser contextlib".split(" "),
    ..."copy csv dataclasses datetime decimal difflib email.message enum fractions functools glob gzip".split(" "),
    ..."hashlib heapq hmac html.parser http.client inspect io itertools json logging math operator os".split(" "),
    ..."pathlib pickle pprint queue random re secrets select shutil socket sqlite3 statistics string struct".split(" "),
    ..."subprocess tarfile tempfile textwrap threading time timeit tomllib traceback types typing".split(" "),
    ..."unicodedata unittest urllib.parse uuid wave weakref xml.dom.minidom xml.etree.ElementTree xml.sax".split(" "),
    ..."zipfile zipimport zlib zoneinfo".split(" "),
  ],
  absent:
    "_ctypes _curses _lzma _multiprocessing _posixsubprocess _ssl fcntl grp mmap pwd readline resource termios".split(
      " ",
    ),
};

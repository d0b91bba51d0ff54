/** What a header is called. */
const NAME = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
/** What a header, a reason or an extension may say: no controls but the tab, and above all no ends of lines. */
const TEXT = "[\\t\\x20-\\x7e\\x80-\\xff]*";
/** Nothing before the colon, nothing folded, and every line ends with both of its characters. */
const FIELDS = `(?:${NAME}:${TEXT}\\r\\n)*`;

export const IS_NAME: RegExp = new RegExp(`^${NAME}$`);
export const IS_TEXT: RegExp = new RegExp(`^${TEXT}$`);
/** The same in ASCII, of which there is only one way to write it down. */
export const IS_PLAIN_TEXT: RegExp = /^[\t\x20-\x7e]*$/;

/** The whole of an answer's head, without the empty line at its end. */
export const IS_HEAD: RegExp = new RegExp(`^HTTP/1\\.[01] [1-5][0-9]{2}(?: ${TEXT})?\\r\\n${FIELDS}$`);
/** What a request asks for: a path, a whole address, or nothing in particular. */
const TARGET = "(?:/|\\*|[A-Za-z]+://)[\\x21-\\x7e]*";
/** The whole of a request's head, without the empty line at its end. */
export const IS_REQUEST_HEAD: RegExp = new RegExp(`^${NAME} ${TARGET} HTTP/1\\.[01]\\r\\n${FIELDS}$`);
/** The whole of what follows the last chunk, with the empty line. */
export const IS_TRAILER: RegExp = new RegExp(`^${FIELDS}\\r\\n$`);

const QUOTED = `"(?:[\\t\\x20!\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"`;
/** What stands behind the size of a chunk. */
export const IS_EXTENSION: RegExp = new RegExp(`^(?:;${NAME}(?:=(?:${NAME}|${QUOTED}))?)*$`);

/** What no lines of a head or a trailer can hold, whatever comes after it: half an end of a line, or a control. */
export const IS_HOPELESS: RegExp = /(?:^|[^\r])\n|\r[^\n]|[^\t\r\n\x20-\x7e\x80-\xff]/;

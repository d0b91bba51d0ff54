import type { Timer } from "../ports/timer.js";
import { type Purse, withPurse } from "../runtime/purse.js";

/** How long a budget stays open for a result that nobody reads on: ten minutes. */
const UNREAD_MS = 600_000;

/** Keeps a budget open as long as something that was given out of it is read, and has it read inside of the budget. */
class Reading {
  private readonly purse: Purse;
  private readonly timer: Timer;
  private readonly onOver: () => void;
  private unread: Disposable | null = null;
  private leases = 0;
  /** How many responses of servers are still written to. */
  private written = 0;
  private isOver = false;
  /** A stream that a property holds is wrapped once, because it can be locked once. */
  readonly known = new WeakMap<object, unknown>();

  constructor(purse: Purse, timer: Timer, onOver: () => void) {
    this.purse = purse;
    this.timer = timer;
    this.onOver = onOver;
    this.wait();
  }

  within<Value>(run: () => Value): Value {
    this.wait();
    return withPurse(this.purse, run);
  }

  /** Keeps the budget open until what comes back is called. With the last of them, the budget ends. */
  lease(): () => void {
    this.leases++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.leases--;
      if (this.leases === 0) this.finish();
    };
  }

  /** Keeps the budget open until what is written to has been closed, however long that takes. */
  leaseUntilClosed(target: NodeWritable): void {
    this.written++;
    const release = this.lease();
    let isOpen = true;
    const close = () => {
      if (isOpen) this.written--;
      isOpen = false;
      release();
    };
    for (const event of ["close", "finish"]) target.once(event, close);
  }

  private wait(): void {
    if (this.isOver) return;
    this.unread?.[Symbol.dispose]();
    this.unread = this.timer.after(UNREAD_MS, () => (this.written > 0 ? this.wait() : this.finish()));
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unread?.[Symbol.dispose]();
    this.onOver();
  }
}

/**
 * What is given back in place of a value that is read only afterwards: a `Response`, a stream, the response of a server of Node's that
 * is still written to, an async iterable, a result of the AI SDK, or a list or an object with such members. It is of the same type, everything that it does happens inside the budget, and
 * `onOver` is called when it has ended, was cancelled or failed, or was not read for ten minutes. Null for any other value.
 */
export function lastingResult<Value>(
  value: Value,
  purse: Purse,
  timer: Timer,
  onOver: () => void,
): { readonly value: Value } | null {
  if (!isObject(value) || (!isLasting(value) && !hasLasting(value))) return null;
  const reading = new Reading(purse, timer, onOver);
  const lasting = isLasting(value) ? tracked(value, reading) : trackedMembers(value, reading);
  return { value: lasting as Value };
}

type Method = (...args: unknown[]) => unknown;

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function has(value: object, name: PropertyKey): boolean {
  return typeof Reflect.get(value, name) === "function";
}

/** What results of the AI SDK, and others made like them, are read with. */
const STREAM_METHODS = ["consumeStream", "toTextStreamResponse", "toUIMessageStreamResponse", "toReadableStream"];

function isLasting(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (value instanceof Response) return isUnread(value);
  if (value instanceof ReadableStream) return !value.locked;
  if (isNodeReadable(value)) return !value.destroyed && !value.readableEnded;
  if (isNodeWritable(value)) return !value.destroyed && !value.writableFinished;
  return has(value, Symbol.asyncIterator) || STREAM_METHODS.some((name) => has(value, name));
}

/**
 * One that has an address came off the network: its request was made, and where it was governed the call itself keeps the budget
 * open until the body has been read.
 */
function isUnread(response: Response): boolean {
  return response.url === "" && !response.bodyUsed && response.body !== null && !response.body.locked;
}

/** A list, or an object without a class, with members that are read afterwards; one level deep. */
function hasLasting(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = Array.isArray(value) || prototype === Object.prototype || prototype === null;
  return isPlain && Object.values(value).some(isLasting);
}

/** A promise among them is left alone: what is not awaited inside of the function comes too late. */
function trackedMembers(value: object, reading: Reading): unknown {
  const member = (each: unknown) => (isPromise(each) ? each : tracked(each, reading));
  if (Array.isArray(value)) return value.map(member);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, member(each)]));
}

function tracked(value: unknown, reading: Reading): unknown {
  if (isPromise(value)) return trackedPromise(value, reading);
  if (!isObject(value) || !isLasting(value)) return value;
  const known = reading.known.get(value);
  if (known !== undefined) return known;
  const made = trackedObject(value, reading);
  reading.known.set(value, made);
  if (isObject(made)) reading.known.set(made, made);
  return made;
}

function trackedObject(value: object, reading: Reading): object {
  if (value instanceof Response) return trackedResponse(value, reading);
  if (value instanceof ReadableStream) return trackedStream(value, reading);
  if (isNodeReadable(value)) return trackedReadable(value, reading);
  if (isNodeWritable(value)) {
    reading.leaseUntilClosed(value);
    return value;
  }
  return trackedResult(value, reading);
}

/** One of the language itself: others are made in their own ways, and are not looked into. */
function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && value.constructor === Promise;
}

function trackedPromise(value: Promise<unknown>, reading: Reading): Promise<unknown> {
  const release = reading.lease();
  // The members of what comes are tracked before the promise lets go.
  return value.then((inner) => tracked(inner, reading)).finally(release);
}

/** The members of a response that its body has to do with. */
const BODY: ReadonlySet<PropertyKey> = new Set([
  "body",
  "bodyUsed",
  "text",
  "json",
  "arrayBuffer",
  "blob",
  "bytes",
  "formData",
  "clone",
]);

function trackedResponse(response: Response, reading: Reading): Response {
  const { status, statusText, headers, body, url, redirected, type } = response;
  const made = new Response(trackedStream(body as ReadableStream, reading), { status, statusText, headers });
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(made, name, { value });
  if (Object.getPrototypeOf(response) === Response.prototype) return made;
  // One of a framework's own: its further members are those of the first, all that has to do with the body is ours.
  return new Proxy(response, {
    get: (target, name) => bound(BODY.has(name) ? made : target, name),
  });
}

function bound(target: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" && name !== "constructor" ? value.bind(target) : value;
}

function trackedStream(source: ReadableStream, reading: Reading): ReadableStream {
  const release = reading.lease();
  const isOfBytes = takesBytes(source);
  const reader = reading.within(() => source.getReader());
  const pull = async (controller: ReadableStreamDefaultController | ReadableByteStreamController): Promise<void> => {
    try {
      const { done, value } = await reading.within(() => reader.read());
      if (!done) return controller.enqueue(value);
      controller.close();
      if ("byobRequest" in controller) controller.byobRequest?.respond(0);
      release();
    } catch (error) {
      release();
      throw error;
    }
  };
  const cancel = (reason: unknown): Promise<void> => reading.within(() => reader.cancel(reason)).finally(release);
  const made = isOfBytes
    ? new ReadableStream({ type: "bytes", pull, cancel }, { highWaterMark: 0 })
    : new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  const prototype: object = Object.getPrototypeOf(source);
  return prototype === ReadableStream.prototype ? made : Object.setPrototypeOf(made, prototype);
}

function takesBytes(source: ReadableStream): boolean {
  try {
    source.getReader({ mode: "byob" }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** What is asked of a readable stream of Node. */
interface NodeReadable {
  readonly destroyed: boolean;
  readonly readableEnded: boolean;
  _read(size: number): void;
  once(event: string, listener: () => void): unknown;
}

function isNodeReadable(value: object): value is NodeReadable {
  return has(value, "pipe") && has(value, "_read") && has(value, "once");
}

/** What is asked of what a server of Node's answers with, or of another writable stream. */
interface NodeWritable {
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  once(event: string, listener: () => void): unknown;
}

function isNodeWritable(value: object): value is NodeWritable {
  return has(value, "write") && has(value, "end") && has(value, "once");
}

/** The stream itself: listening to its end does not make it flow. */
function trackedReadable(stream: NodeReadable, reading: Reading): object {
  const release = reading.lease();
  const read = stream._read;
  stream._read = (size) => reading.within(() => read.call(stream, size));
  for (const event of ["end", "close"]) stream.once(event, release);
  return stream;
}

/** Anything that is asked for what it makes: its methods and properties are its own, and what they give is tracked in turn. */
function trackedResult(target: object, reading: Reading): object {
  // An iterator is read by asking it; anything else has parts that are.
  const release = has(target, "next") ? reading.lease() : null;
  const proxy: object = new Proxy(target, {
    get(_, name) {
      const found: unknown = reading.within(() => Reflect.get(target, name, target));
      if (isFixed(target, name) || name === "constructor") return found;
      if (typeof found !== "function") return tracked(found, reading);
      const method = found as Method;
      return (...args: unknown[]) => {
        if (release !== null && STEPS.has(name)) return step(() => method.apply(target, args), reading, release);
        // Where a result is piped to, such as the response of a server.
        if (isObject(args[0]) && isNodeWritable(args[0])) reading.leaseUntilClosed(args[0]);
        const given = reading.within(() => method.apply(target, args));
        if (given === target) return proxy;
        // Such as the two halves of `tee`.
        return Array.isArray(given) && hasLasting(given) ? trackedMembers(given, reading) : tracked(given, reading);
      };
    },
    set: (_, name, value) => Reflect.set(target, name, value, target),
  });
  return proxy;
}

/** What a proxy has to give back as it is. */
function isFixed(target: object, name: PropertyKey): boolean {
  const own = Reflect.getOwnPropertyDescriptor(target, name);
  return own !== undefined && own.configurable === false && own.writable === false;
}

const STEPS: ReadonlySet<PropertyKey> = new Set(["next", "return", "throw"]);

/** A step of an iterator: the last one lets go of the budget. */
async function step(run: () => unknown, reading: Reading, release: () => void): Promise<unknown> {
  try {
    const result = (await reading.within(run)) as IteratorResult<unknown>;
    if (result?.done === true) release();
    return result;
  } catch (error) {
    release();
    throw error;
  }
}

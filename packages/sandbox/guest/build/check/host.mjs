import { SOURCE_DATE_EPOCH } from "../settings.mjs";
import { createFile, createFolder, find, resize } from "./tree.mjs";

const BADF = 8;
const EXIST = 20;
const INVAL = 28;
const ISDIR = 31;
const NOENT = 44;
const NOSYS = 52;
const NOTDIR = 54;
const NOTEMPTY = 55;
const SPIPE = 70;

const FILE_TYPES = { stream: 2, folder: 3, file: 4 };
const CREATE = 1;
const DIRECTORY = 2;
const EXCLUSIVE = 4;
const TRUNCATE = 8;
const APPEND = 1;

/** Thrown out of the guest when it exits, because nothing else stops it. */
export class Exit extends Error {
  constructor(code) {
    super(`the guest exited with ${code}`);
    this.code = code;
  }
}

/**
 * A WASI host to try a guest out, and for nothing else: it trusts the guest. Its clock stands still unless another is
 * given and its random bytes are always the same, so that two runs do the same.
 */
export function createHost({ args, env = {}, root, clock = standingClock, write }) {
  const descriptors = [
    { node: { kind: "stream", inode: 0 }, write: () => {} },
    { node: { kind: "stream", inode: 0 }, write: (bytes) => write("stdout", bytes) },
    { node: { kind: "stream", inode: 0 }, write: (bytes) => write("stderr", bytes) },
    { node: root, preopened: "/", offset: 0, flags: 0 },
  ];
  const state = { descriptors, memory: null, random: 1, clock };
  const texts = { args, environ: Object.entries(env).map(([name, value]) => `${name}=${value}`) };
  const calls = {
    ...textCalls(state, texts),
    ...machineCalls(state),
    ...descriptorCalls(state),
    ...contentCalls(state),
    ...pathCalls(state),
  };
  return {
    state,
    /** Gives an instance of a module, ready for `_start`. Calls we do not have answer that we do not have them. */
    instantiate(module) {
      const imports = {};
      for (const { module: space, name } of WebAssembly.Module.imports(module)) {
        imports[space] ??= {};
        imports[space][name] = calls[name] ?? (() => NOSYS);
      }
      const instance = new WebAssembly.Instance(module, imports);
      state.memory = instance.exports.memory;
      return instance;
    },
  };
}

function standingClock() {
  return BigInt(SOURCE_DATE_EPOCH) * 1_000_000_000n;
}

function view(state) {
  return new DataView(state.memory.buffer);
}

function bytesAt(state, pointer, length) {
  return new Uint8Array(state.memory.buffer, pointer, length);
}

function textAt(state, pointer, length) {
  return Buffer.from(bytesAt(state, pointer, length)).toString("utf8");
}

function buffersAt(state, pointer, count) {
  const numbers = view(state);
  return Array.from({ length: count }, (_, index) =>
    bytesAt(state, numbers.getUint32(pointer + index * 8, true), numbers.getUint32(pointer + index * 8 + 4, true)),
  );
}

function textCalls(state, texts) {
  const calls = {};
  for (const [name, list] of Object.entries(texts)) {
    const encoded = list.map((text) => Buffer.from(`${text}\0`));
    calls[`${name}_sizes_get`] = (count, size) => {
      view(state).setUint32(count, encoded.length, true);
      view(state).setUint32(size, Buffer.concat(encoded).length, true);
      return 0;
    };
    calls[`${name}_get`] = (pointers, buffer) => {
      let next = buffer;
      for (const [index, bytes] of encoded.entries()) {
        view(state).setUint32(pointers + index * 4, next, true);
        bytesAt(state, next, bytes.length).set(bytes);
        next += bytes.length;
      }
      return 0;
    };
  }
  return calls;
}

function machineCalls(state) {
  return {
    clock_res_get(_id, result) {
      view(state).setBigUint64(result, 1000n, true);
      return 0;
    },
    clock_time_get(_id, _precision, result) {
      view(state).setBigUint64(result, state.clock(), true);
      return 0;
    },
    random_get(pointer, length) {
      const bytes = bytesAt(state, pointer, length);
      for (const index of bytes.keys()) {
        state.random = (Math.imul(state.random, 1_103_515_245) + 12_345) >>> 0;
        bytes[index] = state.random >>> 16;
      }
      return 0;
    },
    sched_yield: () => 0,
    proc_exit(code) {
      throw new Exit(code);
    },
  };
}

/** Finds the open descriptor that a call is about. */
function knownTo(state) {
  return (call) =>
    (descriptor, ...rest) => {
      const opened = state.descriptors[descriptor];
      return opened === undefined ? BADF : call(opened, ...rest);
    };
}

function descriptorCalls(state) {
  const known = knownTo(state);
  return {
    fd_close(descriptor) {
      if (state.descriptors[descriptor] === undefined) return BADF;
      state.descriptors[descriptor] = undefined;
      return 0;
    },
    fd_sync: known(() => 0),
    fd_datasync: known(() => 0),
    fd_advise: known(() => 0),
    fd_fdstat_set_flags: known((opened, flags) => {
      opened.flags = flags;
      return 0;
    }),
    fd_fdstat_get: known((opened, result) => {
      bytesAt(state, result, 24).fill(0);
      view(state).setUint8(result, FILE_TYPES[opened.node.kind]);
      view(state).setUint16(result + 2, opened.flags ?? 0, true);
      view(state).setBigUint64(result + 8, 0x1fff_ffffn, true);
      view(state).setBigUint64(result + 16, 0x1fff_ffffn, true);
      return 0;
    }),
    fd_filestat_get: known((opened, result) => writeStatus(state, opened.node, result)),
    fd_filestat_set_size: known((opened, size) => {
      if (opened.node.kind !== "file") return INVAL;
      resize(opened.node, Number(size));
      return 0;
    }),
    fd_prestat_get: known((opened, result) => {
      if (opened.preopened === undefined) return BADF;
      view(state).setUint32(result, 0, true);
      view(state).setUint32(result + 4, opened.preopened.length, true);
      return 0;
    }),
    fd_prestat_dir_name: known((opened, pointer, length) => {
      bytesAt(state, pointer, length).set(Buffer.from(opened.preopened ?? "").subarray(0, length));
      return 0;
    }),
  };
}

function contentCalls(state) {
  const known = knownTo(state);
  return {
    fd_seek: known((opened, offset, whence, result) => {
      if (opened.node.kind === "stream") return SPIPE;
      const base = [0, opened.offset, opened.node.size ?? 0][whence] ?? 0;
      if (base + Number(offset) < 0) return INVAL;
      opened.offset = base + Number(offset);
      view(state).setBigUint64(result, BigInt(opened.offset), true);
      return 0;
    }),
    fd_tell: known((opened, result) => {
      if (opened.node.kind === "stream") return SPIPE;
      view(state).setBigUint64(result, BigInt(opened.offset), true);
      return 0;
    }),
    fd_read: known((opened, buffers, count, result) => {
      const length = readInto(buffersAt(state, buffers, count), opened.node, opened.offset);
      opened.offset += length;
      view(state).setUint32(result, length, true);
      return opened.node.kind === "folder" ? ISDIR : 0;
    }),
    fd_pread: known((opened, buffers, count, offset, result) => {
      view(state).setUint32(result, readInto(buffersAt(state, buffers, count), opened.node, Number(offset)), true);
      return 0;
    }),
    fd_write: known((opened, buffers, count, result) => {
      if ((opened.flags & APPEND) !== 0) opened.offset = opened.node.size;
      const length = writeFrom(buffersAt(state, buffers, count), opened, opened.offset);
      opened.offset += length;
      view(state).setUint32(result, length, true);
      return 0;
    }),
    fd_pwrite: known((opened, buffers, count, offset, result) => {
      view(state).setUint32(result, writeFrom(buffersAt(state, buffers, count), opened, Number(offset)), true);
      return 0;
    }),
    fd_readdir: known((opened, buffer, length, cookie, result) => {
      if (opened.node.kind !== "folder") return NOTDIR;
      const listed = listing(opened.node, Number(cookie)).subarray(0, length);
      bytesAt(state, buffer, listed.length).set(listed);
      view(state).setUint32(result, listed.length, true);
      return 0;
    }),
  };
}

function pathCalls(state) {
  /** Resolves a path that is given as descriptor, pointer and length. */
  const resolved = (call) => {
    return (descriptor, pointer, length, ...rest) => {
      const opened = state.descriptors[descriptor];
      if (opened === undefined) return BADF;
      const found = find(opened.node, textAt(state, pointer, length));
      return found === null ? NOTDIR : call(found, ...rest);
    };
  };
  return {
    path_open(descriptor, _lookup, pointer, length, how, _rights, _inheriting, flags, result) {
      return resolved((found) => {
        const refused = openRefused(found, how);
        if (refused !== 0) return refused;
        if (found.node === undefined) found.folder.entries.set(found.name, createFile());
        const node = found.node ?? found.folder.entries.get(found.name);
        if ((how & TRUNCATE) !== 0) resize(node, 0);
        const free = state.descriptors.indexOf(undefined);
        const number = free === -1 ? state.descriptors.length : free;
        state.descriptors[number] = { node, offset: 0, flags };
        view(state).setUint32(result, number, true);
        return 0;
      })(descriptor, pointer, length);
    },
    path_filestat_get(descriptor, _lookup, pointer, length, result) {
      return resolved(({ node }) => (node === undefined ? NOENT : writeStatus(state, node, result)))(
        descriptor,
        pointer,
        length,
      );
    },
    path_create_directory: resolved(({ folder, name, node }) => {
      if (node !== undefined) return EXIST;
      folder.entries.set(name, createFolder());
      return 0;
    }),
    path_unlink_file: resolved(({ folder, name, node }) => {
      if (node?.kind !== "file") return node === undefined ? NOENT : ISDIR;
      folder.entries.delete(name);
      return 0;
    }),
    path_remove_directory: resolved(({ folder, name, node }) => {
      if (node?.kind !== "folder") return node === undefined ? NOENT : NOTDIR;
      if (node.entries.size > 0) return NOTEMPTY;
      folder.entries.delete(name);
      return 0;
    }),
    path_rename: resolved((from, descriptor, pointer, length) =>
      resolved((to) => {
        if (from.node === undefined) return NOENT;
        from.folder.entries.delete(from.name);
        to.folder.entries.set(to.name, from.node);
        return 0;
      })(descriptor, pointer, length),
    ),
    path_readlink: () => INVAL,
  };
}

function openRefused({ node, folder }, how) {
  if (node === undefined) return (how & CREATE) !== 0 && folder.kind === "folder" ? 0 : NOENT;
  if ((how & CREATE) !== 0 && (how & EXCLUSIVE) !== 0) return EXIST;
  return (how & DIRECTORY) !== 0 && node.kind !== "folder" ? NOTDIR : 0;
}

function writeStatus(state, node, result) {
  bytesAt(state, result, 64).fill(0);
  const numbers = view(state);
  numbers.setBigUint64(result, 1n, true);
  numbers.setBigUint64(result + 8, BigInt(node.inode), true);
  numbers.setUint8(result + 16, FILE_TYPES[node.kind]);
  numbers.setBigUint64(result + 24, 1n, true);
  numbers.setBigUint64(result + 32, BigInt(node.size ?? 0), true);
  return 0;
}

function readInto(buffers, node, offset) {
  if (node.kind !== "file") return 0;
  let length = 0;
  for (const buffer of buffers) {
    const bytes = node.bytes.subarray(offset + length, Math.min(node.size, offset + length + buffer.length));
    buffer.set(bytes);
    length += bytes.length;
  }
  return length;
}

function writeFrom(buffers, opened, offset) {
  let length = 0;
  for (const bytes of buffers) {
    if (opened.write !== undefined) opened.write(bytes);
    else {
      if (offset + length + bytes.length > opened.node.size) resize(opened.node, offset + length + bytes.length);
      opened.node.bytes.set(bytes, offset + length);
    }
    length += bytes.length;
  }
  return length;
}

function listing(folder, cookie) {
  const entries = [...folder.entries].slice(cookie);
  return Buffer.concat(
    entries.map(([name, node], index) => {
      const text = Buffer.from(name);
      const head = Buffer.alloc(24);
      head.writeBigUInt64LE(BigInt(cookie + index + 1), 0);
      head.writeBigUInt64LE(BigInt(node.inode), 8);
      head.writeUInt32LE(text.length, 16);
      head.writeUInt8(FILE_TYPES[node.kind], 20);
      return Buffer.concat([head, text]);
    }),
  );
}

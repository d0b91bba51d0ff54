/** What JavaScript programs do a lot of. Each is a function without arguments that returns something to compare. */
export const JAVASCRIPT_WORKLOADS: readonly string[] = [
  "fibonacci",
  "loops",
  "objects",
  "arrays",
  "strings",
  "patterns",
  "documents",
  "closures",
  "typedArrays",
  "sorting",
  "maps",
  "exceptions",
];

/** Defines them. Each takes some tens of milliseconds. */
export const JAVASCRIPT_CODE = String.raw`
globalThis.fibonacci = () => {
  const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));
  return fib(24);
};

globalThis.loops = () => {
  let total = 0;
  for (let i = 0; i < 160000; i++) total = (total + i * i) % 1000003;
  return total;
};

class Packet {
  constructor(next, id) { this.next = next; this.id = id; this.data = [0, 0, 0, 0]; }
  behind(queue) {
    this.next = null;
    if (queue === null) return this;
    let last = queue;
    while (last.next !== null) last = last.next;
    last.next = this;
    return queue;
  }
}
globalThis.objects = () => {
  const queues = Array.from({ length: 6 }, (_, id) => new Packet(new Packet(null, id), id));
  let sent = 0;
  for (let turn = 0; turn < 30000; turn++) {
    const id = turn % 6;
    const packet = queues[id];
    if (packet === null) continue;
    queues[id] = packet.next;
    packet.data[turn & 3]++;
    packet.id = (id + 1) % 6;
    queues[packet.id] = packet.behind(queues[packet.id]);
    sent++;
  }
  return sent;
};

globalThis.arrays = () => {
  let values = Array.from({ length: 20000 }, (_, i) => (i * 7919) % 10007);
  for (let turn = 0; turn < 4; turn++) {
    values = values.map((v) => v + 1).filter((v) => v % 17 !== 0).concat([turn]);
    values.unshift(values.pop());
  }
  return values.reduce((sum, v) => sum + v, 0) + values.slice(10, 5000).indexOf(-1);
};

globalThis.strings = () => {
  let length = 0;
  for (let turn = 0; turn < 12; turn++) {
    const text = Array.from({ length: 2000 }, (_, i) => String(i)).join(",");
    length += text.split(",").map((x) => x + "z").join("").toUpperCase().indexOf("1999Z");
    length += text.replaceAll("1", "xx").length;
  }
  return length;
};

globalThis.patterns = () => {
  const text = "the quick brown fox jumps over 1234 lazy dogs foo@bar.com; ".repeat(40);
  let count = 0;
  for (let turn = 0; turn < 40; turn++) {
    count += text.match(/\b\w+@\w+\.com\b/g).length;
    count += text.replace(/(\d+)/g, "<$1>").length;
    count += (text.match(/(?:[a-z]+ ){3}o/g) ?? []).length;
  }
  return count;
};

globalThis.documents = () => {
  const data = { list: [], map: {} };
  for (let i = 0; i < 100; i++) {
    data.list.push(i * 1.5, "x" + i, null, true);
    data.map["k" + i] = { v: i, n: "name " + i };
  }
  let length = 0;
  for (let turn = 0; turn < 30; turn++) length += JSON.stringify(JSON.parse(JSON.stringify(data))).length;
  return length;
};

globalThis.closures = () => {
  const counter = () => { let n = 0; return { add: (by) => (n += by), get: () => n }; };
  const all = Array.from({ length: 50 }, counter);
  for (let turn = 0; turn < 2500; turn++) for (const each of all) each.add(turn & 7);
  return all.reduce((sum, each) => sum + each.get(), 0);
};

globalThis.typedArrays = () => {
  const bytes = new Uint8Array(16384);
  const words = new Float64Array(4096);
  for (let turn = 0; turn < 4; turn++) {
    for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[(i * 31) & 16383] + i) & 255;
    for (let i = 0; i < words.length; i++) words[i] = words[(i + 1) & 4095] * 0.5 + bytes[i];
    bytes.copyWithin(1, 0);
    words.subarray(1).set(words.subarray(0, 4095));
  }
  return bytes.reduce((sum, v) => sum + v, 0) + Math.floor(words[17]);
};

globalThis.sorting = () => {
  let x = 12345;
  const values = Array.from({ length: 12000 }, () => (x = (Math.imul(x, 1103515245) + 12345) & 0x7fffffff));
  return values.toSorted((a, b) => a - b)[0] + values.toSorted()[0];
};

globalThis.maps = () => {
  const map = new Map();
  const set = new Set();
  for (let i = 0; i < 5000; i++) {
    const key = (i * 7919) % 5003;
    map.set(key, (map.get(key) ?? 0) + 1);
    set.add("k" + (key & 255));
  }
  return map.size + set.size;
};

globalThis.exceptions = () => {
  let caught = 0;
  const check = (n) => { if (n % 5 === 0) throw new Error("no " + n); return n; };
  for (let i = 0; i < 20000; i++) {
    try { caught += check(i) & 1; } catch (error) { caught += error.message.length; }
  }
  return caught;
};
`;

// Preloaded with `node --import`, and so in the threads of the process too: does something when a transaction reaches a
// named point, without any hook in the product.
//   BURSAR_TRAP=kill:written:7          kills the process when `written` is reached for the 7th time
//   BURSAR_TRAP=hold:written:/tmp/go    holds the thread at `written` until the file is there
import { subscribe } from "node:diagnostics_channel";
import { existsSync } from "node:fs";

const [, deed, awaited, rest] = /^(\w+):(\w+):(.*)$/.exec(process.env.BURSAR_TRAP ?? "") ?? [];

let left = Number(rest);

function hold() {
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(rest)) Atomics.wait(never, 0, 0, 5);
}

if (deed !== undefined) {
  subscribe("bursar:store", (point) => {
    if (point !== awaited) return;
    if (deed === "hold") hold();
    else if (--left === 0) process.kill(process.pid, "SIGKILL");
  });
}

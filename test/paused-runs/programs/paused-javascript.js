const began = Date.now();
const chance = Math.random();
const lengths = [];
for (let turn = 0; turn < 32; turn++) {
  lengths.push(await host.tool("note", { text: `javascript ${turn} ${chance}` }));
}
await host.call("result", { calls: lengths.length, same: chance < 1, later: Date.now() >= began });

// The same in JavaScript, in the sandbox:
//   bursar run research.js --module tools.mjs --input '{"topics":["tea","coffee"]}'
const { topics } = await host.call("input", {});
const found = {};
for (const topic of topics) {
  found[topic] = await host.tool("notes/search", { topic });
  console.log(`${topic}: ${found[topic].length} notes`);
}

const { remaining } = await host.budget();
await host.call("result", { found, steps_left: remaining.steps ?? null }); // null: no limit

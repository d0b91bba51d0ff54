// A gateway with everything on, in a process of its own, until it is killed.
import { Gate, openStore } from "bursar";
import { openGateway } from "bursar/gateway";

const [, , path, upstream, settings] = process.argv;
const { limits, ...options } = JSON.parse(settings);
const store = await openStore(path);
const gate = new Gate({ store });
if ((await store.budget("team")) === null) await gate.open("team", { limits, scope: "shared" });
const gateway = await openGateway({ ...options, store, upstreams: [{ name: "provider", url: upstream, key: "k" }] });
const { secret } = await gateway.keys.create({ budget: "team", label: "test" });
process.send({ url: gateway.url, secret });

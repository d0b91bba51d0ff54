import type { AgentsModel, AgentsProvider } from "./agents-request.js";
import { GovernedModel, type Governing } from "./governed-model.js";

/** The same provider, with governed models. Everything else it can do stays as it is, also what it keeps to itself. */
export function governing<Provider extends AgentsProvider>(provider: Provider, how: Governing): Provider {
  const getModel = async (name?: string): Promise<AgentsModel> => {
    // Who meters on the wire leaves it open there too.
    const list = how.wired || name === undefined ? null : (how.meter.listFor(name)?.tiers ?? null);
    const model = await provider.getModel(list?.[0]?.model ?? name);
    const open = list === null ? null : (tier: string) => Promise.resolve(provider.getModel(tier));
    return over(model, new GovernedModel(model, name || ownName(model), how, open));
  };
  return over(provider, { getModel });
}

/** An object with some of its methods replaced. The others are called on the object itself, whose private fields no proxy has. */
function over<Target extends object>(target: Target, ours: object): Target {
  return new Proxy(target, {
    get: (_, name) => {
      const own: unknown = Reflect.get(ours, name);
      if (typeof own === "function" && name !== "constructor") return own.bind(ours);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" && name !== "constructor" ? value.bind(target) : value;
    },
  });
}

/** Who names no model gets the SDK's own choice, and OpenAI's models remember their names. */
function ownName(model: AgentsModel): string {
  const { _model: own, model: other } = model as { readonly _model?: unknown; readonly model?: unknown };
  return typeof own === "string" ? own : typeof other === "string" ? other : "";
}

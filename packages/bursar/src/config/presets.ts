/** A policy as it is written in a file, as data: amounts in edge units, null for no limit. */
export interface PolicyInput {
  readonly description?: string;
  readonly extends?: string;
  readonly budgets?: Readonly<Record<string, number | string | null>>;
  readonly exhaustion_policies?: Readonly<Record<string, string>>;
  readonly ceilings?: Readonly<Record<string, number | string | null>>;
  readonly thresholds?: readonly number[];
  readonly wrap_up_reserve?: Readonly<Record<string, number | string>>;
  readonly approval_expiry_ms?: number | string;
}

const MIB = 1_048_576;

const ALLOW: PolicyInput = {
  description: "Work that is trusted: wide limits that warn; only money asks.",
  budgets: {
    steps: 1000,
    wall_clock_ms: 3_600_000,
    llm_tokens: 2_000_000,
    cost_usd: 10,
    network_egress_bytes: 1024 * MIB,
    storage_write_bytes: 1024 * MIB,
  },
  exhaustion_policies: {
    steps: "soft_warn",
    wall_clock_ms: "soft_warn",
    llm_tokens: "soft_warn",
    cost_usd: "approval_required",
    network_egress_bytes: "soft_warn",
    storage_write_bytes: "soft_warn",
  },
};

const MODERATE: PolicyInput = {
  description: "Everyday work: the defaults, written out.",
  budgets: {
    steps: 50,
    wall_clock_ms: 60_000,
    llm_tokens: 100_000,
    cost_usd: 0.5,
    network_egress_bytes: 10 * MIB,
    storage_write_bytes: 50 * MIB,
  },
  exhaustion_policies: {
    steps: "hard_stop",
    wall_clock_ms: "hard_stop",
    llm_tokens: "approval_required",
    cost_usd: "hard_stop",
    network_egress_bytes: "hard_stop",
    storage_write_bytes: "hard_stop",
  },
};

/** The ceilings repeat the zeros, so that no override can lift them: whoever wants a model chooses another policy. */
const STRICT: PolicyInput = {
  description: "Nothing that leaves the machine: no model, no money, no network, no child runs. 0 is 0.",
  budgets: {
    steps: 20,
    wall_clock_ms: 30_000,
    llm_tokens: 0,
    llm_input_tokens: 0,
    llm_output_tokens: 0,
    cost_usd: 0,
    network_egress_bytes: 0,
    storage_write_bytes: 10 * MIB,
    subcalls: 0,
  },
  exhaustion_policies: {
    steps: "hard_stop",
    wall_clock_ms: "hard_stop",
    llm_tokens: "hard_stop",
    llm_input_tokens: "hard_stop",
    llm_output_tokens: "hard_stop",
    cost_usd: "hard_stop",
    network_egress_bytes: "hard_stop",
    storage_write_bytes: "hard_stop",
    subcalls: "hard_stop",
  },
  ceilings: {
    llm_tokens: 0,
    llm_input_tokens: 0,
    llm_output_tokens: 0,
    cost_usd: 0,
    network_egress_bytes: 0,
    subcalls: 0,
  },
};

/** The policies that are there without a file; a file can define its own under the same names, or extend them. */
export const PRESETS: Readonly<Record<"allow" | "moderate" | "strict", PolicyInput>> = Object.freeze({
  allow: ALLOW,
  moderate: MODERATE,
  strict: STRICT,
});

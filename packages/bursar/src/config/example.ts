/** The file that `bursar config init` writes: it can be used as it stands, and everything else is there to be uncommented. */
export const EXAMPLE: string = `# Bursar's configuration: what agents may use, and what happens when it is used up.
# bursar config check    looks for mistakes
# bursar config show     tells what a run gets, and which line says so
#
# A limit of 0 means none of it, null means no limit. Money is in US dollars;
# bytes may be written as 10MB or 512 KiB, times as 500ms, 60s, 5m or 2h.

governance:
  # The policy of runs that name none.
  default_policy: default

  policies:
    default:
      description: Everyday work
      # What a run gets unless whoever starts it says otherwise. What is not
      # named here takes its default: bursar config show tells all of them.
      budgets:
        max_cost_usd: 0.50
        token_budget: 100000
        steps: 50
        wall_clock_ms: 60s
      # What happens at the limit: hard_stop ends the run, approval_required
      # pauses it and asks, soft_warn records it and goes on.
      exhaustion_policies:
        steps: hard_stop
        llm_tokens: approval_required
      # What nobody can pass when a run is started, not even an operator.
      ceilings:
        cost_usd: 5.00
        steps: 500
      # Percentages of a limit at which there is a warning.
      thresholds: [50, 80]
      # Set aside from the start, for the final answer alone.
      # wrap_up_reserve:
      #   cost_usd: 0.05
      #   llm_tokens: 4000
      # When a request for approval is too old to be answered.
      approval_expiry_ms: 24h

    # allow, moderate and strict are shipped; a policy can build on another.
    # research:
    #   extends: moderate
    #   budgets:
    #     network_egress_bytes: 100MB

  # What certain agents get; written here by you, so in either direction.
  # agents:
  #   researcher:
  #     policy: research
  #     budgets:
  #       steps: 200

  # What all runs of a session share. default is for sessions without a name here.
  # sessions:
  #   default:
  #     budgets:
  #       cost_usd: 5.00

  # What everybody shares.
  # tenant:
  #   budgets:
  #     cost_usd: 100.00

# Where budgets and chains live; a relative file stands beside this one.
# store: sqlite:bursar.db

# Who is told about requests for approval. The secret stands in the environment.
# webhook:
#   url: https://example.com/bursar
#   secret_env: BURSAR_WEBHOOK_SECRET

# Which model a deployment runs, where models have names of their own (Azure).
# deployments:
#   chat_prod: gpt-4o-mini

# What is sent to a host though it may choose another model or bring input.
# allow:
#   openrouter.ai: [provider]

# What looks ahead and saves money. enabled: false switches all of it off.
# foresight:
#   enabled: true
#   # What becomes of a run whose estimate does not fit into its limits:
#   # warn, ask (somebody has to say yes), refuse.
#   preflight: ask
#   # A cheap model that is asked where a program has no past to go by.
#   predict:
#     model: gpt-5-nano
#     cost_usd: 0.01
#   # Requests for the model bursar/auto go to the best of these that fits what
#   # is left for the rest of the run, and never below the floor.
#   tiers:
#     lists:
#       auto:
#         floor: small
#         tiers: [{ name: large, model: gpt-5 }, { name: small, model: gpt-5-mini }]
#   # Calls that can wait go through the provider's batch interface.
#   batches:
#     provider: openai
#     model: gpt-5-mini
#     key_env: OPENAI_API_KEY
#     # Of two accounts at one address each needs a name.
#     name: research
#   # What the gateway answers without asking again, or asks in one request.
#   reuse:
#     in_flight: true
#     embeddings: { window_ms: 5ms }
#     cache: { bytes: 64MB, ttl_ms: 1h }
#     # The model calls of runs, too.
#     runs: true
`;

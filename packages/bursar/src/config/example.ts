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
`;

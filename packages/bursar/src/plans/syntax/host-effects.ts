/** A capability that is no tool, but something every host has. */
export interface HostEffect {
  /** What plans call it, without the colon. */
  readonly name: string;
  /** The function of the library that does it. */
  readonly id: string;
}

/** Whatever `call` names and is not in this table is a tool; the namespaces in it hold nothing else. */
export const HOST_EFFECTS: readonly HostEffect[] = [
  { name: "llm/chat", id: "chat" },
  { name: "llm/ask", id: "ask" },
  { name: "host/sleep", id: "sleep" },
  { name: "host/budget", id: "budget" },
];

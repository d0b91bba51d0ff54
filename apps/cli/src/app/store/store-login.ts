/** Whether the URL of a store may hold a login: in front of its host, or among what its driver is told behind the `?`. */
export function mayHoldLogin(store: string): boolean {
  const [, query = ""] = /\?(.*)$/s.exec(store) ?? [];
  return store.includes("@") || query.split("&").some((pair) => pair !== "" && !pair.startsWith("schema="));
}

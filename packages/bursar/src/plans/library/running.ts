/** What plans do beyond computing: calls of the host, branches, steps, and what becomes of errors. JavaScript for the guest. */
export const RUNNING: Readonly<Record<string, string>> = {
  located: `(error, at) => {
  if (error instanceof $Failure) return error;
  const { message, code, dimension, data } = error instanceof Error ? error : { message: String(error) };
  return new $Failure(at, message, { code, dimension, data });
}`,
  effect: `async (at, start) => {
  try {
    return (await start()) ?? null;
  } catch (error) {
    throw $located(error, at);
  }
}`,
  tool: "(at, name, value) => $effect(at, () => host.tool(name, $data(at, value)))",
  spawn: "(at, program, value, options) => $effect(at, () => host.spawn(program, $data(at, value), options))",
  chat: `(at, value) => {
  if (!$isMap(value)) $fail(at, "llm/chat takes a map such as {:messages […]}, and got " + $show(value));
  return $effect(at, () => host.llm($data(at, value)));
}`,
  ask: `(at, value) => {
  const { prompt, system = null, ...more } = typeof value === "string" ? { prompt: value } : $map(at, "llm/ask", value);
  if (typeof prompt !== "string") $fail(at, "llm/ask takes a text, or a map with a text as :prompt");
  const question = { role: "user", content: prompt };
  const messages = system === null ? [question] : [{ role: "system", content: system }, question];
  return $effect(at, () => host.llm($data(at, { ...more, messages })));
}`,
  sleep: `(at, value) => {
  const { ms } = $map(at, "host/sleep", value);
  if (!Number.isSafeInteger(ms) || ms < 0) $fail(at, "host/sleep takes a map such as {:ms 1000}");
  return $effect(at, () => host.sleep(ms));
}`,
  budget: "(at) => $effect(at, () => host.budget())",
  steps: "{ count: 0 }",
  step: `async (at, name, body) => {
  $text(at, "step", name);
  const id = ++$steps.count;
  const [line, column] = $planPlaces[at];
  const mark = (more) => $effect(at, () => host.call("step", { id, name, line, column, ...more }));
  await mark({ phase: "begin" });
  let value;
  try {
    value = await body();
  } catch (error) {
    // What ended the step is what the plan has to learn, also when nobody takes the mark any more.
    await mark({ phase: "end", error: $describe(error).message }).catch(() => {});
    throw error;
  }
  await mark({ phase: "end" });
  return value;
}`,
  parallel: `async (branches) => {
  const ends = await Promise.allSettled(branches.map((branch) => branch()));
  const failed = ends.find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return ends.map(({ value }) => value);
}`,
  place: String.raw`(error) => {
  if (error instanceof $Failure) return $planPlaces[error.at];
  // An error of the engine itself: the lines of this program tell where it was.
  for (const [, line] of String(error?.stack ?? "").matchAll(/:(\d+)(?::\d+)?\)?$/gm)) {
    const at = $planLines[line - $planStart];
    if (at !== undefined) return $planPlaces[at];
  }
  return $planPlaces[0];
}`,
  messageOf: `(error) => {
  if (error instanceof RangeError && error.message.includes("stack")) {
    return "functions call each other too deeply; use loop and recur";
  }
  return error instanceof Error ? error.message : String(error);
}`,
  describe: `(error) => {
  const [line, column] = $place(error);
  const { code = null, dimension = null, data = null } = error instanceof $Failure ? error.more : {};
  const message = $messageOf(error);
  return $record(0, ["message", message, "code", code, "dimension", dimension, "data", data, "line", line, "column", column]);
}`,
  raise: `(at, value) => {
  if (typeof value === "string") $fail(at, value);
  const { message, code = null, dimension = null, data = null } = $map(at, "throw", value);
  if (typeof message !== "string") $fail(at, "throw takes a text, or a map with a text as :message");
  throw new $Failure(at, message, { code, dimension, data });
}`,
  ended: `(error) => {
  // The sandbox knows by itself what to say about this.
  if (error instanceof InternalError && error.message === "out of memory") return error;
  const { message, code, dimension, data, line, column } = $describe(error);
  const last = new Error($planFile + ":" + line + ":" + column + " " + message);
  // The lines of this program would only confuse whoever wrote the plan.
  Object.defineProperties(last, { name: { value: "PlanError" }, stack: { value: "" } });
  return Object.assign(last, code === null ? {} : { code }, dimension === null ? {} : { dimension }, data === null ? {} : { data });
}`,
};

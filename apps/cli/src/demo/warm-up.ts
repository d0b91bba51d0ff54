import type { Sandbox } from "bursar";

/** How an interpreter starts is nothing that the run's clock should count. */
export async function warmUp(sandbox: Sandbox): Promise<void> {
  const session = await sandbox.createSession({ language: "python" });
  await session.begin("pass");
  await session.destroy();
}

import { Webhook } from "../../src/runs/webhook.js";

/** A webhook that keeps what it sends. */
export function keptWebhook(): { readonly webhook: Webhook; readonly sent: readonly string[] } {
  const sent: string[] = [];
  const fetcher = async (_: unknown, init?: RequestInit) => {
    sent.push(JSON.parse(String(init?.body)).event);
    return new Response();
  };
  const secret = "0123456789abcdef";
  return { webhook: new Webhook({ url: "https://example.com/hook", secret, fetch: fetcher as typeof fetch }), sent };
}

import type { ClientHeaders } from '../codec.ts';

/**
 * Whether the client is Codex, which says so in `originator` and `user-agent`. It waits for `response.completed`: it
 * passes over `response.incomplete` and events of errors, and then asks again; of `response.failed` it takes the code
 * `invalid_prompt` for final (codex-rs/codex-api/src/sse/responses.rs of openai/codex).
 */
export function isCodex(headers: ClientHeaders): boolean {
  return [headers['originator'], headers['user-agent']].some(
    (value) => typeof value === 'string' && /^codex/i.test(value),
  );
}

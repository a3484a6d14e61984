import type { DecisionTime } from '../../../inbound/inbound.ts';
/** The `hooks` of PicoClaw's config.json that start a command once, and ask it at the stages of these phases. */
export function settingsFor(
  words: readonly string[],
  phases: ReadonlySet<string>,
  { holdMs }: DecisionTime,
): string {
  const waitMs = Math.max(WAIT_MS, holdMs + 2 * MARGIN_MS);
  const intercept = Object.entries(stagesOf).flatMap(([phase, stages]) => (phases.has(phase) ? stages : []));
  // What PicoClaw has waited for in vain goes on unjudged: it waits longer than Signalbox takes to say no.
  const command = [...words, '--answer-within', `${waitMs - MARGIN_MS}ms`];
  const processes = { signalbox: { enabled: true, transport: 'stdio', command, intercept } };
  const defaults = { interceptor_timeout_ms: waitMs, approval_timeout_ms: waitMs };
  return JSON.stringify({ hooks: { enabled: true, defaults, processes } }, null, 2);
}

const WAIT_MS = 60_000;
const MARGIN_MS = 5_000;

const stagesOf: Readonly<Record<string, readonly string[]>> = {
  'provider before_call': ['before_llm'],
  'provider after_call': ['after_llm'],
  'tool before_execution': ['before_tool', 'approve_tool'],
  'tool after_execution': ['after_tool'],
};

import type { HookFacts, Row } from './attributes.ts';

/**
 * Names that the conventions have not settled: they are exported only after an opt-in. Source: open-telemetry/
 * semantic-conventions-genai#427. Its event `gen_ai.guardrail.security.finding` requires the ID of a policy and the
 * category of a risk, which hooks do not have, so it is not exported.
 */
export const guardrailRows: readonly Row<HookFacts>[] = [
  { name: 'gen_ai.guardrail.component.name', read: ({ hook }) => hook },
  { name: 'gen_ai.guardrail.target.type', read: ({ phase }) => targets.get(phase) },
  { name: 'gen_ai.guardrail.verdict.type', read: ({ verdict, error }) => (error ? undefined : verdict) },
  {
    name: 'gen_ai.guardrail.action.type',
    read: ({ verdict, mode }) => (mode === 'filter' ? actions.get(verdict ?? '') : 'allow'),
  },
];

const targets: ReadonlyMap<string, string> = new Map([
  ['before_call', 'input'],
  ['before_execution', 'input'],
  ['after_call', 'output'],
  ['after_execution', 'output'],
]);

const actions: ReadonlyMap<string, string> = new Map([
  ['allow', 'allow'],
  ['modify', 'modify'],
  ['respond', 'modify'],
  ['ask', 'block'],
  ['deny', 'block'],
  ['abort', 'block'],
]);

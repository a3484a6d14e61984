import { allowed, decisionOf } from '../../calls/hooks/hook-chain.ts';
import type { FilteredCall } from '../../calls/tool-call/callable-tool.ts';
import { answers, type Decision } from '../../contract/hook.ts';

/** What was decided about a call before it is made, in the form of one decision. */
export function decisionAbout({ stopped, args, asked, metadata }: FilteredCall): Decision {
  if (stopped === undefined) return { ...allowed, verdict: args === asked ? 'allow' : 'modify', metadata };
  const { outcome } = stopped;
  switch (outcome.status) {
    case 'denied': {
      const { hook, reason, error, abort } = outcome;
      const denial = decisionOf({ hook, dialect: null }, answers.deny(reason, { metadata }));
      return { ...denial, ...(error && { error }), ...(abort && { verdict: 'abort', abort }) };
    }
    case 'pending':
      return decisionOf({ hook: outcome.hook, dialect: null }, answers.ask(outcome.reason, { metadata }));
    case 'failed':
      return decisionOf({ hook: null, dialect: null }, answers.deny(outcome.error.message, { metadata }));
    case 'ok':
      return decisionOf({ hook: null, dialect: null }, answers.respond(outcome.result, { metadata }));
  }
}

/** What a model, or whoever reads its answer, is told in the place of a call or a result. */
export function denialText(tool: string, hook: string | null, reason: string): string {
  return `Tool "${tool}" was blocked by hook "${hook ?? ''}": ${reason}`;
}

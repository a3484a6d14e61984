import type { EventInput } from '../../calls/hooks/event-input.ts';
import type { Phase } from '../../contract/hook.ts';

/** A made-up event of a phase, with `text` where a message, an argument or a result has its text. */
export function sampleEvent(phase: Phase, text: string): EventInput {
  const request = { provider_id: 'sample', model: 'sample', messages: [{ role: 'user', content: text }] };
  const call = { name: 'sample', args: { text }, call_id: 'call_1' };
  switch (phase) {
    case 'before_call':
      return { hook: 'provider', phase, request };
    case 'after_call':
      return {
        hook: 'provider',
        phase,
        request,
        response: { message: { role: 'assistant', content: text } },
      };
    case 'before_execution':
      return { hook: 'tool', phase, request: call };
    case 'after_execution':
      return { hook: 'tool', phase, request: call, response: { content: JSON.stringify(text) } };
    case 'scored':
      return { hook: 'eval', phase, event: { eval_id: 'sample', explanation: text, score: 1, passed: true } };
    default:
      return { hook: 'session', phase, event: { messages: request.messages } };
  }
}

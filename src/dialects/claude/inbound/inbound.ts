import type { DecisionDocument } from '../../../contract/document.ts';
import { RuntimeError } from '../../../errors.ts';
import type { Inbound, InboundEvent, InboundQuestion, Told } from '../../../inbound/inbound.ts';
import { claudeEvents } from '../config/events.ts';
import { denial } from './denial.ts';
import { toInboundEvents } from './event.ts';
import { toBatchReply, toReply } from './reply.ts';
import { settingsFor } from './settings.ts';

/** Claude Code asks, by the fields of the hooks reference (code.claude.com/docs/en/hooks). */
export const inbound: Inbound = {
  read,
  unreadable: ({ message }) => ({ exitCode: 2, stderr: message }),
  settingsFor,
};

const known: ReadonlySet<string> = new Set(claudeEvents);

function read(told: Told): InboundQuestion {
  const name = told['hook_event_name'];
  if (typeof name !== 'string')
    throw new RuntimeError(
      'EVENT_INVALID',
      'stdin has no hook_event_name: this is what Claude Code runs as a hook',
      {
        hint: '`signalbox hook export --dialect claude` prints the settings by which it does.',
      },
    );
  if (!known.has(name))
    throw new RuntimeError('EVENT_INVALID', `the event ${name} is none that this Signalbox knows`, {
      hint: 'Take it out of the settings, or use a newer Signalbox.',
    });
  return {
    events: toInboundEvents(name, told),
    toReply: (decision: DecisionDocument, event: InboundEvent) =>
      name === 'PostToolBatch' ? toBatchReply(decision, event) : toReply(name, told, decision),
    toFailure: ({ message }) => denial(name, told, message),
  };
}

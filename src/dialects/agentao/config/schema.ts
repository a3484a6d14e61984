import type { EntryRules } from '../../dialect-config.ts';
import { modifiesHint, withoutNativeKeys } from '../../entry-rules.ts';
import { agentaoEvents } from './events.ts';

/** The settings of a `dialect: agentao` hook; `command`, a shell line, stands beside them unless there is `prompt`. */
const block = {
  type: 'object',
  description: 'An Agentao rule. `command` beside it is a shell line; a `prompt` takes its place.',
  additionalProperties: false,
  required: ['event'],
  properties: {
    event: { type: 'string', enum: agentaoEvents, description: 'The event, by Agentao’s name for it.' },
    matcher: {
      type: ['object', 'null'],
      description: 'Which occurrences, as in {tool_name: run_shell_command}. Default: all.',
    },
    prompt: {
      type: 'string',
      description: 'A static text that joins the prompt at UserPromptSubmit; nothing is started.',
    },
    stop_reentry_cap: {
      type: 'integer',
      minimum: 0,
      description:
        'Forced continuations of one user turn, beyond which Stop rules are overridden. Default: 3.',
    },
  },
} as const;

const eventHint = '`agentao.event` says when the rule runs.';

/** The keys of a `dialect: agentao` hook. */
export const agentaoEntry: EntryRules = {
  block,
  required: ['agentao'],
  properties: { ...withoutNativeKeys, args: false },
  hookRemarks: { command: 'A shell line for agentao; not needed for an agentao prompt.' },
  misplacedHints: {
    hook: eventHint,
    phases: eventHint,
    mode: eventHint,
    modifies: modifiesHint,
    args: '`command` is a shell line: write them into it.',
  },
  runtimeHint: 'An Agentao rule is started anew for each event; leave `runtime` out.',
  checksCommand: true,
};

import type { EntryRules } from '../../dialect-config.ts';
import { modifiesHint, withoutNativeKeys } from '../../entry-rules.ts';
import { claudeEvents } from './events.ts';
import { describeRefusedType } from './handler.ts';

/** The settings of a `dialect: claude` hook; `command`, if any, stands beside them. */
const block = {
  type: 'object',
  description: 'A Claude Code handler. Without `args` beside it, `command` is a shell line.',
  additionalProperties: false,
  required: ['event'],
  properties: {
    event: { type: 'string', enum: claudeEvents, description: 'The event, by Claude Code’s name for it.' },
    matcher: {
      type: 'string',
      description:
        'Which occurrences: a name, names split at | or a comma, or a regular expression. Default: all.',
    },
    if: {
      type: 'string',
      minLength: 1,
      description:
        'One permission rule, as in Bash(git *), that narrows tool events. In doubt the handler runs.',
    },
    type: {
      type: 'string',
      enum: ['command', 'http'],
      description: 'command (default): a process. http: a POST of the payload to `url`.',
    },
    shell: {
      type: 'string',
      enum: ['bash', 'powershell'],
      description: 'What reads the command line where there are no `args`. Default: sh.',
    },
    async: {
      type: 'boolean',
      description: 'In the background: only its context counts, later. Default: false.',
    },
    url: { type: 'string', pattern: '^https?://', description: 'Where an http handler is posted to.' },
    headers: {
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      description: 'Headers of the POST; `$NAME` in a value is filled from `allowedEnvVars`.',
    },
    allowedEnvVars: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Variables that header values may use. They must stand in `env` too.',
    },
    stop_cap: {
      type: 'integer',
      minimum: 0,
      description:
        'Forced continuations in a row after which a Stop handler is overridden; 0 is no cap. Default: 8.',
    },
  },
} as const;

const eventHint = '`claude.event` says when the handler runs.';

/** The keys of a `dialect: claude` hook. */
export const claudeEntry: EntryRules = {
  block,
  importProperties: {
    prompt_provider: {
      type: 'string',
      minLength: 1,
      description: 'The provider that judges for handlers of type prompt; without it they are refused.',
    },
  },
  required: ['claude'],
  properties: withoutNativeKeys,
  hookRemarks: {
    command: 'A shell line for claude without `args`; not needed for a claude handler of type http.',
  },
  toolRemarks: { aliases: 'Claude hooks are told the first one.' },
  misplacedHints: { hook: eventHint, phases: eventHint, mode: eventHint, modifies: modifiesHint },
  runtimeHint: 'A Claude Code handler is started anew for each event; leave `runtime` out.',
  valueMessages: {
    'claude.type': describeRefusedType,
    'claude.event': (value) => `is no event of Claude Code (got: ${value})`,
  },
  checksCommand: true,
};

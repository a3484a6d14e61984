import { agentaoEvents } from '../agentao-events.ts';
import { claudeEvents } from '../claude-events.ts';
import { picoclawMethods } from '../foreign.ts';
import { picoclawKindNames } from '../picoclaw-events.ts';
import { milliseconds } from './exec.ts';

/** What an import of PicoClaw’s config.json may say of all its processes. */
export const picoclawImportProperties = {
  version: {
    type: 'string',
    enum: ['0.2.8-doc', 'head'],
    description:
      'Whose protocol is spoken where they differ. 0.2.8-doc (default): the published page. head: the code after 0.2.9.',
  },
  event_kind: {
    type: 'string',
    enum: ['number', 'name'],
    description:
      'What `Kind` of an event is under 0.2.8-doc: the number that every release sends (default), or the name.',
  },
  lenient: {
    type: 'boolean',
    description: 'Accept a hello whose `ok` is not true. Default: false.',
  },
  hello_timeout_ms: { ...milliseconds, description: 'How long the hello may take. Default: 5000.' },
} as const;

/** The settings of a `dialect: picoclaw` hook. */
export const picoclawSchema = {
  type: 'object',
  description:
    'A PicoClaw process. Needs `intercept`, `observe` or both, unless `hook` stands beside it as the short form.',
  additionalProperties: false,
  properties: {
    ...picoclawImportProperties,
    intercept: {
      type: 'array',
      items: { type: 'string', enum: [...picoclawMethods, ''] },
      description:
        'What it is asked: before_llm, after_llm, before_tool, after_tool, approve_tool. Naming one of a pair turns on both; an empty name is skipped.',
    },
    observe: {
      type: 'array',
      items: { type: 'string', enum: picoclawKindNames },
      description: 'Kinds of events it is told, by legacy or dotted names; `*` or all is every kind.',
    },
    dir: {
      type: 'string',
      minLength: 1,
      description: 'Folder in which it starts, relative to this file’s. Default: this file’s folder.',
    },
    interceptor_timeout_ms: {
      ...milliseconds,
      description: 'How long a method may take; the entry’s timeout_ms replaces it. Default: 5000.',
    },
    approval_timeout_ms: { ...milliseconds, description: 'How long approve_tool may take. Default: 60000.' },
    observer_timeout_ms: {
      ...milliseconds,
      description: 'How long the writing of one event may take. Default: 500.',
    },
  },
} as const;

/** The settings of a `dialect: claude` hook; `command`, if any, stands beside them. */
export const claudeSchema = {
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

/** The settings of a `dialect: agentao` hook; `command`, a shell line, stands beside them unless there is `prompt`. */
export const agentaoSchema = {
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

import type { EntryRules } from '../../dialect-config.ts';
import { milliseconds, modifiesHint } from '../../entry-rules.ts';
import { picoclawKindNames, picoclawMethods } from './events.ts';

/** What an import of PicoClaw’s config.json may say of all its processes. */
const wireProperties = {
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
const block = {
  type: 'object',
  description:
    'A PicoClaw process. Needs `intercept`, `observe` or both, unless `hook` stands beside it as the short form.',
  additionalProperties: false,
  properties: {
    ...wireProperties,
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

/** The keys of a `dialect: picoclaw` hook. */
export const picoclawEntry: EntryRules = {
  block,
  required: ['command'],
  isServer: true,
  properties: {
    mode: false,
    modifies: false,
    runtime: { const: 'server' },
    hook: { enum: ['provider', 'tool'] },
  },
  hookRemarks: { hook: 'short for both methods of a pair in picoclaw' },
  misplacedHints: {
    mode: '`picoclaw.intercept` and `picoclaw.observe` say what it is asked and told.',
    modifies: modifiesHint,
  },
  runtimeHint: 'A PicoClaw process always stays; leave `runtime` out.',
  valueMessages: {
    'picoclaw.observe.*': (value) => `is no kind of event of PicoClaw (got: ${value})`,
  },
  folderKey: ['picoclaw', 'dir'],
  importProperties: {
    picoclaw: {
      type: 'object',
      description: 'What holds for all processes of a PicoClaw config.json.',
      additionalProperties: false,
      properties: wireProperties,
    },
  },
};

import { execProperties } from './exec.ts';

const {
  runtime: _runtime,
  instances: _instances,
  warm: _warm,
  dialect: _dialect,
  ...oneShot
} = execProperties;

/** Whom runs tell of what happens to them. */
export const notifySchema = {
  type: ['array', 'null'],
  description:
    'Who is told that a call waits or is decided, or that a run has ended, after it is kept; docs/notify.md has the document.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['on'],
    properties: {
      ...oneShot,
      command: {
        ...execProperties.command,
        description: `${execProperties.command.description} The document is on its stdin; exit code 0 says that it was taken.`,
      },
      timeout_ms: {
        ...execProperties.timeout_ms,
        description: 'Milliseconds until an attempt is given up. Default: 10000.',
      },
      url: {
        type: 'string',
        pattern: '^https?://',
        description:
          'Where the document is posted; any status from 200 to 299 says that it was taken. https, or http to this machine; redirects are not followed.',
      },
      headers: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Headers of the request to `url`, such as Authorization: Bearer ${env:TOKEN}.',
      },
      on: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: { type: 'string', enum: ['pending', 'decided', 'suspended', 'failed', 'completed'] },
        description:
          'pending: a call waits for a person. decided: it was decided, has expired or was cancelled. suspended: a fault that may be gone later set a run down. completed: a run did its work. failed: it failed, was denied or was cancelled.',
      },
    },
  },
} as const;

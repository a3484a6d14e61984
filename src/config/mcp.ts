import { type Fields, usual, usually } from '../base/yaml/fields.ts';
import { listenPattern } from './listen.ts';

export const mcpSchema = {
  type: ['object', 'null'],
  [usual]: {},
  description: 'What `signalbox mcp` offers to agents.',
  additionalProperties: false,
  properties: {
    http: {
      type: 'string',
      pattern: listenPattern,
      description: 'HOST:PORT to serve HTTP at. Default: stdin and stdout.',
    },
    tools: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      [usual]: ['*'],
      description:
        'Names of the tools to offer; `*` stands for any characters and `?` for one. Default: every tool with `exec`.',
    },
    decide: {
      type: 'string',
      enum: ['operators', 'caller'],
      [usual]: 'operators',
      description:
        'Who may decide about a call that waits for a person. operators: those who may decide elsewhere. caller: also the person in front of the agent, whom the agent asks. Default: operators.',
    },
    max_message_bytes: usually(
      8 * 1024 * 1024,
      {
        type: 'integer',
        minimum: 1024,
        maximum: 256 * 1024 * 1024,
        description: 'The longest message, in either direction.',
      },
      '8388608 (8 MiB)',
    ),
  },
} as const;

export type McpConfig = Fields<typeof mcpSchema.properties>;

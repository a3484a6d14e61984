import { durationPattern } from '../duration.ts';

/** When a person must approve a call, and who: the same keys at a tool and for patterns of tools. */
const ruleProperties = {
  when: {
    type: 'string',
    description:
      'Approval is needed where this `${…}` over `args` is true, or cannot be evaluated. Default: every time.',
  },
  message: { type: 'string', description: 'What the person is told; may hold `${…}` over `args`.' },
  by: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { type: 'string', pattern: '\\S' },
    description:
      'Who may decide, as `--by` names them: about every call of the tool that waits, whoever has asked. Default: whoever has a name.',
  },
  quorum: {
    type: 'integer',
    minimum: 1,
    description:
      'How many different people of `by` must approve; one who rejects is enough to reject. Default: 1.',
  },
  expires: {
    type: 'string',
    pattern: durationPattern,
    description: 'How long a decision may take, such as 24h or 7d; then the call fails. Default: for ever.',
  },
} as const;

/** `approval` of a tool. */
export const approvalSchema = {
  type: ['string', 'object'],
  pattern: '^required$',
  description:
    'When a person must approve before the tool runs. required: every time. A mapping says when, and what the person is told.',
  additionalProperties: false,
  properties: ruleProperties,
} as const;

/** `spec.approvals`. */
export const approvalsSchema = {
  type: ['object', 'null'],
  description:
    'Approvals by name, for tools whose names fit a pattern, whoever runs them: Signalbox, the client of a gateway, or an agent that has Signalbox for a hook. Where several fit, all hold.',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['tools'],
    properties: {
      tools: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', minLength: 1 },
        description:
          'Names of tools, in which `*` stands for any characters and `?` for one, such as Bash or mcp__prod__*.',
      },
      ...ruleProperties,
    },
  },
} as const;

/** `spec.agents`. */
export const agentsSchema = {
  type: ['object', 'null'],
  description: 'Agents that have Signalbox for a hook (`signalbox hook`).',
  additionalProperties: false,
  properties: {
    pending: {
      type: 'string',
      enum: ['hold', 'refuse'],
      description:
        'When a person has to decide about a call: let the agent wait, or refuse the call and name the pending one. Default: refuse.',
    },
    hold_ms: {
      type: 'integer',
      minimum: 1,
      maximum: 86_400_000,
      description: 'How long the agent waits; then the call is refused. Default: 120000.',
    },
  },
} as const;

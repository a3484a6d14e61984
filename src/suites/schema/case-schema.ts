import { expressionOr, expressionPattern, scoreRange } from './expression-or.ts';

const contextSchema = expressionOr(
  'object',
  {
    additionalProperties: false,
    properties: {
      messages: expressionOr(
        'array',
        {},
        'The conversation: `{role, content}` and whatever else a message holds.',
      ),
      turn_index: expressionOr('integer', { minimum: 0 }, 'Which turn is judged, from 0.'),
      tool_calls: expressionOr(
        'array',
        {},
        'The tool calls: `{name, args, result, error, index}`. Default: those of the messages.',
      ),
      variables: expressionOr('object', {}, 'Variables of the prompt.'),
      metadata: expressionOr('object', {}, 'Whatever else the evals may want to know.'),
      session_id: { type: 'string', description: 'The session that the text comes from.' },
      prompt_id: { type: 'string', description: 'The prompt that the text answers.' },
    },
  },
  'The conversation around the text. What is left out is empty, or what the subject gave.',
);

/** The bounds of a score; each may be an expression. */
export const thresholdSchema = {
  type: 'object',
  description:
    'Inclusive bounds that a score must keep, or expressions over `case` that give them. Without any, a score of 1 passes.',
  additionalProperties: false,
  properties: {
    min_score: expressionOr('number', scoreRange, 'The lowest score that passes.'),
    max_score: expressionOr('number', scoreRange, 'The highest score that passes.'),
  },
} as const;

/** `spec.case`: how a row becomes a case. */
export const caseSchema = {
  type: 'object',
  description:
    'How a row becomes a case; expressions see the row as `case`, and what the subject made as `subject`. Without it a row has these members itself.',
  additionalProperties: false,
  properties: {
    id: {
      type: ['string', 'integer'],
      description: 'Names the case. Default: the number of its row, from 1.',
    },
    content: {
      type: 'string',
      description: 'The text to judge. Default: what the subject made, or the last answer of the messages.',
    },
    context: contextSchema,
    tags: {
      type: ['array', 'string'],
      pattern: expressionPattern,
      items: { type: ['string', 'number', 'boolean', 'null'] },
      description: 'Groups that the case counts in; empty ones are dropped.',
    },
    threshold: {
      ...thresholdSchema,
      description:
        'When the case passes as a whole: bounds on the weighted mean of its scores. Without them every assertion and guardrail must pass.',
    },
  },
} as const;

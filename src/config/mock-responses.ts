import {
  compileExpressions,
  type Expression,
  type ExpressionError,
  findExpressionErrors,
} from '../base/expression/expression.ts';
import { isObject } from '../base/json/json.ts';
import { describePath } from '../base/yaml/schema-path.ts';
import { findViolations } from '../base/yaml/violation.ts';

/** The variables of a mock's expressions: native messages, `round` from 1, the system prompt, the tools' names. */
export const mockVariables = ['messages', 'round', 'system', 'tools'] as const;

export const milliseconds = { type: 'integer', minimum: 0, maximum: 86_400_000 } as const;

export const scriptedError = {
  type: 'object',
  additionalProperties: false,
  description: 'How the call fails; a stream fails after its `text` or `chunks`.',
  properties: {
    status: { type: 'integer', minimum: 100, maximum: 599 },
    message: { type: 'string' },
    retry_after_ms: milliseconds,
  },
} as const;

export const mockSettings = {
  max_retries: { type: 'integer', minimum: 0, maximum: 10 },
  retry_base_ms: milliseconds,
  replaced_by_env: {
    type: 'string',
    pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
    description:
      'While this environment variable holds `URL#MODEL`, the OpenAI-compatible endpoint there answers instead.',
  },
} as const;

const responseSchema = {
  type: 'object',
  description: 'One scripted answer.',
  additionalProperties: false,
  properties: {
    when: {
      type: 'string',
      minLength: 1,
      description: 'A CEL expression; the response is used only if it is true.',
    },
    repeat: { type: 'boolean', description: 'Whether the response may be used more than once.' },
    text: { type: 'string', description: 'What the model says; may contain `${…}`.' },
    chunks: {
      type: 'array',
      minItems: 1,
      items: { type: 'string' },
      description: 'The text in the pieces of a stream, instead of `text`.',
    },
    tool_calls: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          id: { type: 'string', minLength: 1, description: 'Default: call_<answer>_<n>, both from 1.' },
          name: { type: 'string', minLength: 1 },
          args: { type: ['object', 'string'], description: 'A mapping, or a `${…}` that gives one.' },
        },
      },
    },
    finish_reason: { enum: ['stop', 'length', 'tool-calls', 'content-filter', 'other'] },
    usage: {
      type: 'object',
      additionalProperties: false,
      properties: {
        input_tokens: { type: 'integer', minimum: 0 },
        output_tokens: { type: 'integer', minimum: 0 },
      },
    },
    delay_ms: { ...milliseconds, description: 'Wait before the answer, and before each piece of a stream.' },
    error: scriptedError,
  },
} as const;

export const mockSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['responses'],
  properties: {
    responses: { type: 'array', minItems: 1, items: responseSchema },
    ...mockSettings,
  },
} as const;

export interface MockProblem {
  /** The path inside `additional_config`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint?: string;
}

export function checkMock(additionalConfig: Readonly<Record<string, unknown>>): readonly MockProblem[] {
  const violations = findViolations(additionalConfig, mockSchema);
  if (violations.length > 0) {
    return violations.map(({ path, message, hint }) => (hint ? { path, message, hint } : { path, message }));
  }
  return listOf(additionalConfig['responses']).flatMap((response, position) =>
    [...checkWhen(response), ...checkTemplates(response), ...checkCombinations(response)].map((problem) => ({
      ...problem,
      path: ['responses', position, ...problem.path],
    })),
  );
}

/** One line: `responses[1].when: …`. */
export function formatMockProblem({ path, message }: MockProblem, schema: object = mockSchema): string {
  const place = describePath(path, schema);
  return place === '' ? message : `${place}: ${message}`;
}

/** The `${}` is optional. Throws ExpressionError. */
export function compileWhen(when: string): Expression {
  return compileExpressions(wrapWhen(when), mockVariables);
}

function wrapWhen(when: string): string {
  return when.trimStart().startsWith('${') ? when.trim() : `\${${when}}`;
}

function checkWhen(response: Readonly<Record<string, unknown>>): MockProblem[] {
  const { when } = response;
  if (typeof when !== 'string') return [];
  return findExpressionErrors({ when: wrapWhen(when) }, mockVariables).map(toProblem);
}

function checkTemplates(response: Readonly<Record<string, unknown>>): MockProblem[] {
  const { text, chunks, tool_calls } = response;
  return findExpressionErrors({ text, chunks, tool_calls }, mockVariables).map(toProblem);
}

function toProblem({ path, message }: ExpressionError): MockProblem {
  return { path, message };
}

function checkCombinations(response: Readonly<Record<string, unknown>>): MockProblem[] {
  const problems: MockProblem[] = [];
  if (response['text'] !== undefined && response['chunks'] !== undefined) {
    problems.push({ path: ['chunks'], message: 'cannot be combined with `text`' });
  }
  if (response['error'] !== undefined && response['tool_calls'] !== undefined) {
    problems.push({
      path: ['tool_calls'],
      message: 'cannot be combined with `error`: a call that fails has no tool calls',
    });
  }
  listOf(response['tool_calls']).forEach(({ args }, position) => {
    if (typeof args !== 'string' || /^\$\{.*\}$/s.test(args.trim())) return;
    problems.push({ path: ['tool_calls', position, 'args'], message: 'must be a mapping or one `${…}`' });
  });
  return problems;
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

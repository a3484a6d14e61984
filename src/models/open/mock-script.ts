import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { compileExpressions } from '../../base/expression/expression.ts';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { describeValue } from '../../base/yaml/wording.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { compileWhen, mockVariables } from '../../config/mock-responses.ts';
import { createProviderError } from '../provider-error.ts';

type Scope = Readonly<Record<(typeof mockVariables)[number], unknown>>;
type Fields = Readonly<Record<string, unknown>>;

/** One scripted answer, ready to be given. */
export interface MockResponse {
  readonly repeat: boolean;
  readonly delayMs: number;
  /** Throws PROVIDER_FAILED when the condition cannot be evaluated or gives no boolean. */
  readonly matches: (scope: Scope) => boolean;
  /** Throws PROVIDER_FAILED when an expression fails. */
  readonly render: (scope: Scope) => MockAnswer;
  readonly error?: { readonly status?: number; readonly message: string; readonly retryAfterMs?: number };
  readonly finishReason?: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other';
  readonly usage: { readonly input?: number; readonly output?: number };
}

export interface MockAnswer {
  /** The text in the pieces in which it is streamed; empty when there is none. */
  readonly chunks: readonly string[];
  readonly calls: readonly { readonly id?: string; readonly name: string; readonly input: string }[];
}

/** Compiles the responses of a mock that `checkMock` has found sound. */
export function readResponses({ id, additionalConfig }: ProviderConfig): readonly MockResponse[] {
  return listOf(additionalConfig['responses']).map((fields, position) =>
    readResponse(fields, (thrown, key) =>
      createProviderError(id, {
        message: `responses[${position}].${key}: ${toRuntimeError(thrown).message}`,
      }),
    ),
  );
}

type CreateError = (thrown: unknown, key: string) => RuntimeError;

function readResponse(fields: Fields, fail: CreateError): MockResponse {
  const { finish_reason, usage, delay_ms } = fields;
  return {
    repeat: fields['repeat'] === true,
    delayMs: numberOf(delay_ms) ?? 0,
    matches: readCondition(fields['when'], fail),
    render: readAnswer(fields, fail),
    usage: isObject(usage) ? readUsage(usage) : {},
    ...(isObject(fields['error']) ? { error: readError(fields['error']) } : {}),
    ...(isFinishReason(finish_reason) ? { finishReason: finish_reason } : {}),
  };
}

function readCondition(when: unknown, fail: CreateError): MockResponse['matches'] {
  if (typeof when !== 'string') return () => true;
  const condition = compileWhen(when);
  return (scope) => {
    const value = rethrowAs(
      () => condition.evaluate(scope),
      (thrown) => fail(thrown, 'when'),
    );
    if (typeof value === 'boolean') return value;
    throw fail(new Error(`gives ${describeValue(value)}, not true or false`), 'when');
  };
}

function readAnswer({ text, chunks, tool_calls }: Fields, fail: CreateError): MockResponse['render'] {
  const template = compileExpressions({ text, chunks, tool_calls }, mockVariables);
  return (scope) => {
    const rendered = rethrowAs(
      () => template.evaluate(scope),
      (thrown) => fail(thrown, 'text'),
    );
    const fields = isObject(rendered) ? rendered : {};
    return {
      chunks: Array.isArray(fields['chunks']) ? fields['chunks'].map(asText) : splitText(fields['text']),
      calls: listOf(fields['tool_calls']).map((call) => readCall(call, fail)),
    };
  };
}

function readCall({ id, name, args }: Fields, fail: CreateError): MockAnswer['calls'][number] {
  if (args !== undefined && !isObject(args)) {
    throw fail(new Error(`\`args\` gives ${describeValue(args)}, not a mapping`), 'tool_calls');
  }
  const call = { name: asText(name), input: stringifyJson(args ?? {}) };
  return id === undefined ? call : { id: asText(id), ...call };
}

/** Words, each with the white space that follows it. */
function splitText(text: unknown): string[] {
  return text === undefined ? [] : (asText(text).match(/^\s+|\S+\s*/g) ?? ['']);
}

function readUsage({ input_tokens, output_tokens }: Fields): MockResponse['usage'] {
  const input = numberOf(input_tokens);
  const output = numberOf(output_tokens);
  return { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) };
}

function readError({ status, message, retry_after_ms }: Fields): NonNullable<MockResponse['error']> {
  const code = numberOf(status);
  const wait = numberOf(retry_after_ms);
  return {
    message: message === undefined ? 'scripted failure' : asText(message),
    ...(code === undefined ? {} : { status: code }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

function rethrowAs<T>(work: () => T, explain: (thrown: unknown) => RuntimeError): T {
  try {
    return work();
  } catch (thrown) {
    throw explain(thrown);
  }
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

function isFinishReason(value: unknown): value is NonNullable<MockResponse['finishReason']> {
  return typeof value === 'string' && finishReasons.has(value);
}

const finishReasons: ReadonlySet<string> = new Set([
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'other',
]);

import { createHash } from 'node:crypto';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { compileExpressions } from '../../base/expression/expression.ts';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { sleep } from '../../base/time/deadline.ts';
import { describeValue } from '../../base/yaml/wording.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { checkMockEmbeddings, embeddingsOf, mockEmbeddingsSchema } from '../../config/mock-embeddings.ts';
import { checkMock, compileWhen, formatMockProblem, mockVariables } from '../../config/mock-responses.ts';
import type { EmbedTexts } from '../embedding.ts';
import { createProviderError } from '../provider-error.ts';
import { unusableError } from './credential.ts';

type Scope = Readonly<Record<(typeof mockVariables)[number], unknown>>;
type Fields = Readonly<Record<string, unknown>>;

export interface MockResponse {
  readonly repeat: boolean;
  readonly delayMs: number;
  readonly matches: (scope: Scope) => boolean;
  readonly render: (scope: Scope) => MockAnswer;
  readonly error?: { readonly status?: number; readonly message: string; readonly retryAfterMs?: number };
  readonly finishReason?: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other';
  readonly usage: { readonly input?: number; readonly output?: number };
}

export interface MockAnswer {
  readonly chunks: readonly string[];
  readonly calls: readonly { readonly id?: string; readonly name: string; readonly input: string }[];
}

function readResponses({ id, additionalConfig }: ProviderConfig): readonly MockResponse[] {
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

export interface ScriptedAnswer {
  readonly response: MockResponse;
  readonly answer: MockAnswer;
}

/** Uses the first unused response whose `when` is true. Throws PROVIDER_UNUSABLE; the result PROVIDER_FAILED. */
export function openScript(
  config: ProviderConfig,
): (scope: Parameters<MockResponse['matches']>[0]) => ScriptedAnswer {
  requireValid(config);
  const responses = readResponses(config);
  const used = new Set<MockResponse>();
  return (scope) => {
    const isAvailable = (response: MockResponse) =>
      !used.has(response) || response.repeat || response === responses.at(-1);
    const response = responses.find((candidate) => isAvailable(candidate) && candidate.matches(scope));
    if (response === undefined) {
      const message = `no response of the script is left for round ${scope.round}`;
      throw createProviderError(config.id, { message });
    }
    const answer = response.render(scope);
    used.add(response);
    return { response, answer };
  };
}

function requireValid({ id, additionalConfig }: ProviderConfig): void {
  const problems = checkMock(additionalConfig);
  if (problems.length === 0) return;
  const message = problems.map((problem) => formatMockProblem(problem)).join('; ');
  throw new RuntimeError('PROVIDER_UNUSABLE', `provider "${id}": additional_config: ${message}`, {
    hint: problems.find(({ hint }) => hint !== undefined)?.hint,
  });
}

/** Other texts get a constant vector without meaning. Throws PROVIDER_UNUSABLE; the result PROVIDER_FAILED. */
export function openMockEmbeddings({ id, additionalConfig }: ProviderConfig): EmbedTexts {
  const problems = checkMockEmbeddings(additionalConfig);
  if (problems.length > 0) {
    const message = problems.map((problem) => formatMockProblem(problem, mockEmbeddingsSchema)).join('; ');
    throw unusableError(id, `additional_config: ${message}`, problems.find(({ hint }) => hint)?.hint);
  }
  const entries = embeddingsOf(additionalConfig);
  const size = entries.map(({ vector }) => vector).find(Array.isArray)?.length ?? USUAL_SIZE;
  const embedOne = async (text: string, signal: AbortSignal | undefined): Promise<number[]> => {
    const entry = entries.find((each) => each['text'] === undefined || each['text'] === text);
    const { vector, error, delay_ms: delayMs } = entry ?? {};
    if (typeof delayMs === 'number' && delayMs > 0) await sleep(delayMs, signal);
    signal?.throwIfAborted();
    if (isObject(error)) throw createProviderError(id, readError(error));
    return Array.isArray(vector) ? vector.map(Number) : digestVector(text, size);
  };
  return async (texts, signal) => ({
    vectors: await Promise.all(texts.map((text) => embedOne(text, signal))),
    tokens: texts.reduce((sum, text) => sum + countTokens(text), 0),
  });
}

const USUAL_SIZE = 8;

/** Estimates four characters a token. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function digestVector(text: string, size = USUAL_SIZE): number[] {
  const bytes = createHash('shake256', { outputLength: size }).update(text).digest();
  const raw = [...bytes].map((byte) => byte - 127.5);
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}

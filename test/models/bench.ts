import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { toFault } from '../../src/base/errors.ts';
import type { ProviderConfig } from '../../src/config/config.ts';
import type { ProviderContext } from '../../src/models/open/open-provider.ts';
import { openProvider } from '../../src/models/open/open-provider.ts';

export function declare(fields: Partial<ProviderConfig>): ProviderConfig {
  return {
    id: 'main',
    type: 'mock',
    model: 'scripted',
    headers: {},
    credential: {},
    defaults: {},
    additionalConfig: {},
    position: { file: 'runtime.yaml', line: 1, column: 1 },
    ...fields,
  };
}

export function openModel(
  fields: Partial<ProviderConfig>,
  context: Partial<ProviderContext> = {},
): Promise<LanguageModelV4> {
  return openProvider(declare(fields), { env: {}, folder: '/nowhere', ...context }).model();
}

export function openScript(
  responses: readonly unknown[],
  fields: Partial<ProviderConfig> = {},
): Promise<LanguageModelV4> {
  return openModel({ ...fields, additionalConfig: { ...fields.additionalConfig, responses } });
}

export function ask(
  text: string,
  more: Partial<LanguageModelV4CallOptions> = {},
): LanguageModelV4CallOptions {
  return { prompt: [user(text)], ...more };
}

export function user(text: string): LanguageModelV4Prompt[number] {
  return { role: 'user', content: [{ type: 'text', text }] };
}

export function assistant(text: string): LanguageModelV4Prompt[number] {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}

export async function collect(stream: ReadableStream<LanguageModelV4StreamPart>) {
  return await Array.fromAsync(stream);
}

export async function streamOf(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamPart[]> {
  return await collect((await model.doStream(options)).stream);
}

export async function textOf(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<string> {
  const { content } = await model.doGenerate(options);
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** The rejection of a promise as data, without the hint. */
export async function faultOf(work: PromiseLike<unknown>) {
  try {
    await work;
  } catch (thrown) {
    const { code, message, details } = toFault(thrown);
    return { code, message, ...(details === undefined ? {} : { details }) };
  }
  throw new Error('it did not fail');
}

/** The error part that ends a stream, as data without the hint. */
export function errorOf(parts: readonly LanguageModelV4StreamPart[]) {
  const last = parts.at(-1);
  if (last?.type !== 'error') throw new Error(`the stream ended with ${last?.type}`);
  const { code, message, details } = toFault(last.error);
  return { code, message, ...(details === undefined ? {} : { details }) };
}

/** The types of the parts, with their text. */
export function outline(parts: readonly LanguageModelV4StreamPart[]): string[] {
  return parts.map((part) => ('delta' in part ? `${part.type} ${part.delta}` : part.type));
}

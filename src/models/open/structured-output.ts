import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isObject } from '../../base/json/json.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { wrapModel } from '../wrapped-model.ts';

/**
 * The model; a JSON Schema that its calls ask the answer to fit goes to the API where that keeps to one, else into the
 * system prompt.
 */
export function withStructuredOutput(
  model: LanguageModelV4,
  method: ProviderConfig['structuredOutput'] = 'schema',
): LanguageModelV4 {
  return wrapModel(model, {
    transformParams: async ({ params }) => {
      const { responseFormat: format } = params;
      if (format?.type !== 'json' || !isObject(format.schema)) return params;
      if (method === 'schema' && takesSchema(format.schema, params)) return withSchema(params, format.schema);
      return withInstruction(params, format.schema, method);
    },
  });
}

type Schema = Readonly<Record<string, unknown>>;

/** APIs take schemas of objects; some packages send one as a tool named `json`. */
function takesSchema({ type }: Schema, { tools = [] }: LanguageModelV4CallOptions): boolean {
  return type === 'object' && tools.every(({ name }) => name !== 'json');
}

function withSchema(params: LanguageModelV4CallOptions, schema: Schema): LanguageModelV4CallOptions {
  if (isStrict(schema)) return params;
  const { providerOptions: options } = params;
  const loose = { strictJsonSchema: false };
  return {
    ...params,
    providerOptions: {
      ...options,
      openai: { ...options?.['openai'], ...loose },
      openaiCompatible: { ...options?.['openaiCompatible'], ...loose },
    },
  };
}

/**
 * Whether every object of a schema says what members it has and requires them all, without which OpenAI refuses to keep
 * strictly to it. Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const { properties, required } = schema;
  const isObjectSchema = schema['type'] === 'object' || isObject(properties);
  const names = isObject(properties) ? Object.keys(properties) : [];
  const isClosed = schema['additionalProperties'] === false;
  const isComplete = names.every((name) => Array.isArray(required) && required.includes(name));
  if (isObjectSchema && !(isClosed && isComplete)) return false;
  if (looseKeywords.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  return Object.values(schema).every(isStrict);
}

const looseKeywords = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
];

/** APIs that only know that JSON is wanted ask for the word in the prompt. */
function withInstruction(
  { responseFormat: _, ...params }: LanguageModelV4CallOptions,
  schema: Schema,
  method: ProviderConfig['structuredOutput'],
): LanguageModelV4CallOptions {
  const words = `Answer with one JSON value that fits this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`;
  return {
    ...params,
    prompt: withSystemText(params.prompt, words),
    ...(method === 'json' && { responseFormat: { type: 'json' } }),
  };
}

function withSystemText(prompt: LanguageModelV4Prompt, text: string): LanguageModelV4Prompt {
  const [first, ...rest] = prompt;
  if (first?.role !== 'system') return [{ role: 'system', content: text }, ...prompt];
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest];
}

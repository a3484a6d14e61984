import { isObject } from '../../../json/json.ts';
import type { Path } from '../../../yaml/document.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import { findApi } from './apis.ts';
import { credentialOf, isCleanUrl } from './connection.ts';
import type { GivenProvider, ProviderContext } from './provider-model.ts';

type Mapping = Readonly<Record<string, unknown>>;

const marker = /^embeddings?:/;

/** Whether an id means a model that embeds, of whatever maker. */
export function isEmbeddingId(id: string): boolean {
  return (
    /:embeddings?(?::|$)/.test(id) ||
    /^(?:voyage|huggingface:(?:feature-extraction|sentence-similarity)):/.test(id)
  );
}

/** The entry of `spec.providers` of a model that embeds; undefined, with a note, where nothing here asks it. */
export function embeddingProviderOf(
  value: unknown,
  name: string,
  context: ProviderContext & { readonly at: Path },
): Mapping | undefined {
  const given = normalize(value, context.at);
  const found = given === undefined ? undefined : findApi(given.id);
  if (
    given === undefined ||
    found === undefined ||
    !marker.test(found.rest) ||
    !embeds.includes(found.api.type)
  ) {
    const named = given === undefined ? 'without an id' : `\`${given.id}\``;
    const hint = 'Declare a provider with `role: embedding` in the runtime, and name it in the evals.';
    context.notes.add(
      'error',
      context.at,
      `the embeddings provider ${named} has no counterpart and is left out`,
      hint,
    );
    return undefined;
  }
  const { type, base_url, key } = found.api;
  return omitUndefined({
    id: name,
    type,
    model: found.rest.replace(marker, ''),
    role: 'embedding',
    base_url: isCleanUrl(given.config['apiBaseUrl']) ? given.config['apiBaseUrl'] : base_url,
    credential: credentialOf(given, key, context.notes),
    additional_config: dimensionsOf(given, context),
  });
}

/** Types of APIs that have embeddings here. */
const embeds = ['openai', 'openai-compatible', 'ollama', 'gemini'];

function normalize(value: unknown, at: Path): GivenProvider | undefined {
  const id = isObject(value) ? value['id'] : value;
  const config = isObject(value) ? value['config'] : undefined;
  if (typeof id !== 'string') return undefined;
  return { id, label: id, config: isObject(config) ? config : {}, transform: undefined, at };
}

const ofConnection = ['apiKey', 'apiKeyEnvar', 'apiBaseUrl'];

function dimensionsOf({ config, at }: GivenProvider, { notes }: ProviderContext): Mapping | undefined {
  const { dimensions } = config;
  const isCarried = typeof dimensions === 'number' && Number.isSafeInteger(dimensions) && dimensions > 0;
  for (const [key, value] of Object.entries(config)) {
    const isKnown =
      (key === 'dimensions' && isCarried) ||
      (ofConnection.includes(key) && (key !== 'apiBaseUrl' || isCleanUrl(value)));
    if (!isKnown)
      notes.add(
        'error',
        [...at, 'config', key],
        `the setting \`${key}\` of an embeddings provider is not carried`,
      );
  }
  return isCarried ? { dimensions } : undefined;
}

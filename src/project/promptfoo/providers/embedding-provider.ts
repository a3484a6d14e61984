import { omitUndefined } from '../../../yaml/present.ts';
import type { Source } from '../../../yaml/source.ts';
import { findApi } from './apis.ts';
import { credentialOf, isCleanUrl } from './connection.ts';

type Mapping = Readonly<Record<string, unknown>>;

const marker = /^embeddings?:/;

/** Whether an id means a model that embeds, of whatever maker. */
export function isEmbeddingId(id: string): boolean {
  return (
    /:embeddings?(?::|$)/.test(id) ||
    /^(?:voyage|huggingface:(?:feature-extraction|sentence-similarity)):/.test(id)
  );
}

/** The entry of `spec.providers` of a model that embeds, and its id there; undefined, with a note, where nothing here asks it. */
export function embeddingProviderOf(
  source: Source,
): { readonly entry: Mapping; readonly label: string } | undefined {
  const id = source.text() ?? source.at('id').text();
  const found = id === undefined ? undefined : findApi(id);
  if (
    id === undefined ||
    found === undefined ||
    !marker.test(found.rest) ||
    !embeds.includes(found.api.type)
  ) {
    const named = id === undefined ? 'without an id' : `\`${id}\``;
    const hint = 'Declare a provider with `role: embedding` in the runtime, and name it in the evals.';
    source.leave(`the embeddings provider ${named} has no counterpart and is left out`, hint);
    return undefined;
  }
  const { type, base_url, key } = found.api;
  const config = source.at('config');
  const address = config.at('apiBaseUrl').text();
  const dimensions = config.at('dimensions').number();
  const isCounted = dimensions !== undefined && Number.isSafeInteger(dimensions) && dimensions > 0;
  const entry = omitUndefined({
    type,
    model: found.rest.replace(marker, ''),
    role: 'embedding',
    base_url: address ?? base_url,
    credential: credentialOf({ id, label: id, config, transform: source.at('transform'), at: source }, key),
    additional_config: isCounted ? { dimensions } : undefined,
  });
  // As with models that answer: texts could go elsewhere.
  const isElsewhere = address !== undefined && !isCleanUrl(address);
  const lost = config.untaken();
  for (const each of lost)
    each.leave(
      `an embeddings provider with the setting \`${String(each.path.at(-1))}\` is left out: its requests could go elsewhere`,
    );
  if (isElsewhere)
    config
      .at('apiBaseUrl')
      .leave('an embeddings provider with such an address is left out: its requests could go elsewhere');
  if (dimensions !== undefined && !isCounted)
    config.at('dimensions').leave('the setting `dimensions` of an embeddings provider is not carried');
  return lost.length > 0 || isElsewhere ? undefined : { entry, label: id };
}

/** Types of APIs that have embeddings here. */
const embeds = ['openai', 'openai-compatible', 'ollama', 'gemini'];

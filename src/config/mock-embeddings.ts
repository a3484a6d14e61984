import { isObject } from '../base/json/json.ts';
import { findViolations } from '../base/yaml/violation.ts';
import { type MockProblem, milliseconds, mockSettings, scriptedError } from './mock-responses.ts';

const embeddingSchema = {
  type: 'object',
  description: 'The vector of a text, or how a call for it fails.',
  additionalProperties: false,
  properties: {
    text: { type: 'string', description: 'The text, as it is. Default: every text.' },
    vector: { type: 'array', minItems: 1, items: { type: 'number' } },
    error: scriptedError,
    delay_ms: { ...milliseconds, description: 'Wait before the answer.' },
  },
} as const;

/** `additional_config` of a provider of the type mock that embeds. */
export const mockEmbeddingsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    embeddings: { type: 'array', minItems: 1, items: embeddingSchema },
    ...mockSettings,
  },
} as const;

/** Everything that is wrong with the `additional_config` of a mock that embeds. */
export function checkMockEmbeddings(
  additionalConfig: Readonly<Record<string, unknown>>,
): readonly MockProblem[] {
  const violations = findViolations(additionalConfig, mockEmbeddingsSchema);
  if (violations.length > 0) {
    return violations.map(({ path, message, hint }) => (hint ? { path, message, hint } : { path, message }));
  }
  return embeddingsOf(additionalConfig).flatMap(({ vector, error }, position): MockProblem[] => {
    if ((vector === undefined) !== (error === undefined)) return [];
    return [{ path: ['embeddings', position], message: 'needs either `vector` or `error`' }];
  });
}

/** The entries of a script, unchecked. */
export function embeddingsOf({
  embeddings,
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  return Array.isArray(embeddings) ? embeddings.filter(isObject) : [];
}

import { isObject } from '../base/json/json.ts';
import { findViolations } from '../base/yaml/violation.ts';
import { type MockProblem, milliseconds, mockSettings, scriptedError } from './mock-responses.ts';

const embeddingSchema = {
  type: 'object',
  description: 'The vector of a text, or how a call for it fails.',
  additionalProperties: false,
  properties: {
    text: { type: 'string', description: 'The exact text. Default: any text.' },
    vector: { type: 'array', minItems: 1, items: { type: 'number' } },
    error: scriptedError,
    delay_ms: { ...milliseconds, description: 'Wait before the answer.' },
  },
} as const;

export const mockEmbeddingsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    embeddings: { type: 'array', minItems: 1, items: embeddingSchema },
    ...mockSettings,
  },
} as const;

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

/** Does not check the script. */
export function embeddingsOf({
  embeddings,
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  return Array.isArray(embeddings) ? embeddings.filter(isObject) : [];
}

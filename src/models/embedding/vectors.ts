import { formatCount } from '../../base/text/format-count.ts';
import { createProviderError } from '../provider-error.ts';

/** The value as that many vectors of one length, each of finite numbers. Throws PROVIDER_FAILED. */
export function requireVectors(
  value: unknown,
  { count, provider }: { readonly count: number; readonly provider: string },
): number[][] {
  const problem = findProblem(value, count);
  if (problem === undefined && isVectors(value)) return value;
  throw createProviderError(provider, { message: `its answer ${problem}`, retryable: false });
}

function findProblem(value: unknown, count: number): string | undefined {
  if (!Array.isArray(value)) return 'is no list of embeddings';
  if (value.length !== count)
    return `has ${formatCount(value.length, 'embedding')} for ${formatCount(count, 'text')}`;
  const strange = value.findIndex((vector) => !isVector(vector));
  if (strange !== -1) return `has an embedding that is no list of numbers, at ${strange}`;
  const lengths = new Set(value.map((vector: readonly number[]) => vector.length));
  if (lengths.size > 1) return `has embeddings of different lengths: ${[...lengths].join(', ')}`;
  return undefined;
}

function isVectors(value: unknown): value is number[][] {
  return Array.isArray(value) && value.every(isVector);
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => Number.isFinite(each));
}

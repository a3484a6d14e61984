import { isObject } from '../../json/json.ts';
import { tryParse } from '../../json/try-parse.ts';
import type { TokenUsage } from '../wire/codec.ts';

/** The tokens that a JSON text tells of, of whichever endpoint: an answer, or an event of a stream. */
export function usageIn(text: string): TokenUsage | undefined {
  if (!text.includes('"usage"')) return undefined;
  const value = tryParse(text);
  if (!isObject(value)) return undefined;
  const { usage, response, message } = value;
  return (
    toUsage(usage) ??
    toUsage(isObject(response) ? response['usage'] : undefined) ??
    toUsage(isObject(message) ? message['usage'] : undefined)
  );
}

function toUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = countOf(usage, 'prompt_tokens', 'input_tokens');
  const output = countOf(usage, 'completion_tokens', 'output_tokens');
  if (input === undefined && output === undefined) return undefined;
  return { input: input ?? 0, output: output ?? 0 };
}

function countOf(usage: Readonly<Record<string, unknown>>, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = usage[name];
    if (typeof value === 'number' && value >= 0) return value;
  }
  return undefined;
}

/** The larger of two tellings: a stream tells its input first, and its output at the end. */
export function joinUsage(
  one: TokenUsage | undefined,
  other: TokenUsage | undefined,
): TokenUsage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { input: Math.max(one.input, other.input), output: Math.max(one.output, other.output) };
}

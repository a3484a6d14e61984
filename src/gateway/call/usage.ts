import { isObject } from '../../json/json.ts';
import { tryParse } from '../../json/try-parse.ts';
import type { TokenUsage } from '../wire/codec.ts';

/** The tokens that a whole answer tells of, of whichever endpoint. */
export function usageIn(text: string): TokenUsage | undefined {
  return toldIn(text)?.last;
}

/** Collects what the events of a stream tell of tokens, of whichever endpoint. */
export interface UsageWatch {
  /** The data of an event. */
  see(data: string): void;
  /** Undefined until the stream has told what it used up to its end: a beginning alone makes an answer look cheap. */
  total(): TokenUsage | undefined;
}

export function watchUsage(): UsageWatch {
  let first: TokenUsage | undefined;
  let last: TokenUsage | undefined;
  return {
    see: (data) => {
      const told = toldIn(data);
      first = told?.first ?? first;
      last = told?.last === undefined ? last : joinUsage(last, told.last);
    },
    total: () => last && joinUsage(first, last),
  };
}

interface Told {
  /** By a `message_start`: what has been used before the answer. */
  readonly first: TokenUsage | undefined;
  /** By an answer, or by what ends one. */
  readonly last: TokenUsage | undefined;
}

function toldIn(text: string): Told | undefined {
  if (!text.includes('"usage"')) return undefined;
  const value = tryParse(text);
  if (!isObject(value)) return undefined;
  const { usage, response, message } = value;
  return {
    first: isObject(message) ? toUsage(message['usage']) : undefined,
    last: toUsage(usage) ?? (isObject(response) ? toUsage(response['usage']) : undefined),
  };
}

function toUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = countOf(usage, 'prompt_tokens', 'input_tokens');
  const output = countOf(usage, 'completion_tokens', 'output_tokens');
  if (input === undefined && output === undefined) return undefined;
  return { input: (input ?? 0) + cachedInputOf(usage), output: output ?? 0 };
}

/** What Anthropic's API counts beside `input_tokens`; it is not free either. */
function cachedInputOf(usage: Readonly<Record<string, unknown>>): number {
  const counts = [countOf(usage, 'cache_creation_input_tokens'), countOf(usage, 'cache_read_input_tokens')];
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

function countOf(usage: Readonly<Record<string, unknown>>, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = usage[name];
    if (typeof value === 'number' && value >= 0) return value;
  }
  return undefined;
}

/** The larger of two tellings: a stream tells its input first, and its output at the end. */
function joinUsage(one: TokenUsage | undefined, other: TokenUsage): TokenUsage {
  if (one === undefined) return other;
  return { input: Math.max(one.input, other.input), output: Math.max(one.output, other.output) };
}

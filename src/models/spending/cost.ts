import type { LanguageModelV4CallOptions, LanguageModelV4Usage } from '@ai-sdk/provider';
import { add, exact, multiply, toDouble } from '../../base/json/decimal.ts';
import { isObject } from '../../base/json/json.ts';

/** US dollars per 1,000 tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** US dollars. Null without a price. */
export function costOf(
  { input, output }: { readonly input: number; readonly output: number },
  price: Price | undefined,
): number | null {
  if (price === undefined) return null;
  const [read, written] = [
    multiply(exact(input), exact(price.input)),
    multiply(exact(output), exact(price.output)),
  ];
  return toDouble(multiply(add(read, written), { over: 1n, under: 1n, exponent: -3 }));
}

/** US dollars. Null without a price, or if the API has not counted the tokens. */
export function costOfUsage(usage: LanguageModelV4Usage, price: Price | undefined): number | null {
  if (price?.input === 0 && price.output === 0) return 0;
  const { inputTokens, outputTokens } = knownUsage(usage);
  const { total: input } = inputTokens;
  const { total: output } = outputTokens;
  return input === undefined || output === undefined ? null : costOf({ input, output }, price);
}

/** Estimates one token for four bytes of text, plus the longest permitted answer. */
export function estimateTokens(options: LanguageModelV4CallOptions): number {
  const { input, output } = estimateUsage(options);
  return input + output;
}

export function estimateUsage({ prompt, tools, maxOutputTokens }: LanguageModelV4CallOptions): {
  readonly input: number;
  readonly output: number;
} {
  const text = JSON.stringify([prompt, tools ?? []], (_key, value: unknown) =>
    // Bytes of pictures and files are fewer tokens than text.
    value instanceof Uint8Array ? ' '.repeat(Math.ceil(value.byteLength / OPAQUE_SHARE)) : value,
  );
  return {
    input: Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN),
    output: maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS,
  };
}

const BYTES_PER_TOKEN = 4;
const OPAQUE_SHARE = 4;
const DEFAULT_OUTPUT_TOKENS = 4096;

export function tokensOf({ inputTokens, outputTokens }: LanguageModelV4Usage): number | undefined {
  const { total: input } = inputTokens;
  const { total: output } = outputTokens;
  return input === undefined || output === undefined ? undefined : input + output;
}

/** Some packages write 0 for a total that the API did not report. Such totals become undefined. */
export function knownUsage({
  inputTokens,
  outputTokens,
  ...rest
}: LanguageModelV4Usage): LanguageModelV4Usage {
  const { raw } = rest;
  const { total: input } = inputTokens;
  const { total: output } = outputTokens;
  return {
    ...rest,
    inputTokens: isCounted(input, raw, inputNames) ? inputTokens : { ...inputTokens, total: undefined },
    outputTokens: isCounted(output, raw, outputNames) ? outputTokens : { ...outputTokens, total: undefined },
  };
}

const inputNames = ['prompt_tokens', 'input_tokens', 'promptTokenCount', 'total_input_tokens'];
const outputNames = [
  'completion_tokens',
  'output_tokens',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'total_output_tokens',
];

function isCounted(total: number | undefined, raw: unknown, names: readonly string[]): boolean {
  if (total !== 0 || !isObject(raw)) return true;
  const isKnown = Object.keys(raw).some((name) =>
    [...inputNames, ...outputNames, ...sumNames].includes(name),
  );
  const isEmpty = Object.keys(raw).length === 0;
  return !(isKnown || isEmpty) || names.some((name) => typeof raw[name] === 'number');
}

const sumNames = ['total_tokens', 'totalTokenCount'];

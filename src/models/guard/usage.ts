import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { isObject } from '../../base/json/json.ts';

/**
 * The usage with uncounted totals as undefined: where an API reports a usage without one of its totals, the
 * packages write 0.
 */
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

/** What the APIs call their totals. */
const inputNames = ['prompt_tokens', 'input_tokens', 'promptTokenCount', 'total_input_tokens'];
const outputNames = [
  'completion_tokens',
  'output_tokens',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'total_output_tokens',
];

/** Whether a total was counted: true for any but 0, and for raw usage of an unknown form. */
function isCounted(total: number | undefined, raw: unknown, names: readonly string[]): boolean {
  if (total !== 0 || !isObject(raw)) return true;
  const isKnown = Object.keys(raw).some((name) =>
    [...inputNames, ...outputNames, ...sumNames].includes(name),
  );
  const isEmpty = Object.keys(raw).length === 0;
  return !(isKnown || isEmpty) || names.some((name) => typeof raw[name] === 'number');
}

const sumNames = ['total_tokens', 'totalTokenCount'];

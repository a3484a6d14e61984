import type { LanguageModelV4CallOptions, LanguageModelV4Usage } from '@ai-sdk/provider';

/** What a call may use before anybody knows: four bytes of text a token, as they mostly are, and the longest answer it allows. */
export function estimateTokens(options: LanguageModelV4CallOptions): number {
  const { input, output } = estimateUsage(options);
  return input + output;
}

/** The same, of the request and of its answer. */
export function estimateUsage({ prompt, tools, maxOutputTokens }: LanguageModelV4CallOptions): {
  readonly input: number;
  readonly output: number;
} {
  const text = JSON.stringify([prompt, tools ?? []], (_key, value: unknown) =>
    // Bytes of pictures and files are fewer tokens than text is.
    value instanceof Uint8Array ? ' '.repeat(Math.ceil(value.byteLength / OPAQUE_SHARE)) : value,
  );
  return {
    input: Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN),
    output: maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS,
  };
}

const BYTES_PER_TOKEN = 4;
const OPAQUE_SHARE = 4;
/** Where nobody says how long an answer may be. */
const DEFAULT_OUTPUT_TOKENS = 4096;

/** What a call has used; undefined where the API does not tell. */
export function tokensOf({ inputTokens, outputTokens }: LanguageModelV4Usage): number | undefined {
  const { total: input } = inputTokens;
  const { total: output } = outputTokens;
  return input === undefined || output === undefined ? undefined : input + output;
}

import { createHash } from 'node:crypto';
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { canonicalJson } from '../../base/json/equal.ts';
import { parseLossless, stringifyJson } from '../../base/json/json.ts';
import { fits } from '../../base/json/shape.ts';
import type { ProviderConfig } from '../../config/config.ts';
import type { CallScope } from '../call-scope.ts';
import { withoutTransport } from '../recording/call-recorder.ts';
import { type CallOutcome, outcome as outcomeShape } from '../recording/model-call.ts';
import { decodeSdkValue, describeModelCall, encodeSdkValue } from '../recording/recorded-call.ts';

/** The entry of one call in the cache of its scope. */
export interface CachedCall {
  findResult(): Promise<LanguageModelV4GenerateResult | undefined>;
  findParts(): Promise<readonly LanguageModelV4StreamPart[] | undefined>;
  /** Keeps an answer that is whole, and no other. Never rejects. */
  keep(outcome: CallOutcome): Promise<void>;
  /** There was no answer: the call made again is this one, not a second. */
  forget(): void;
}

/** Undefined where there is no cache. */
export function findCachedCall(
  scope: CallScope,
  provider: ProviderConfig,
  mode: 'generate' | 'stream',
  options: LanguageModelV4CallOptions,
): CachedCall | undefined {
  const { cache, epoch, asked } = scope;
  if (cache === undefined) return undefined;
  const call = digestOf(provider, mode, options);
  const time = (asked.get(call) ?? 0) + 1;
  asked.set(call, time);
  const key = digest([call, epoch, time]);
  const find = async (): Promise<CallOutcome | undefined> =>
    await cache.find(key, (text) => {
      const outcome = decodeSdkValue(parseLossless(text));
      return fits(outcomeShape, outcome) && isWhole(outcome) ? outcome : undefined;
    });
  return {
    findResult: async () => {
      const outcome = await find();
      return outcome?.kind === 'result' ? outcome.result : undefined;
    },
    findParts: async () => {
      const outcome = await find();
      return outcome?.kind === 'parts' ? outcome.parts : undefined;
    },
    keep: async (outcome) => {
      if (!isWhole(outcome)) return;
      await cache.keep(key, () => stringifyJson(encodeSdkValue(withoutTransfer(outcome), 'keep')));
    },
    forget: () => {
      asked.set(call, (asked.get(call) ?? 1) - 1);
    },
  };
}

/**
 * What determines the answer: whose API it is, its model and settings, and the request; no header and no key. Another model,
 * address, parameter or message is another call.
 */
function digestOf(
  { type, baseUrl, model, defaults, additionalConfig }: ProviderConfig,
  mode: 'generate' | 'stream',
  options: LanguageModelV4CallOptions,
): string {
  const { request } = describeModelCall({ provider: type, model, mode }, options);
  return digest([FORMAT_VERSION, { type, baseUrl, model, defaults, additionalConfig }, mode, request]);
}

/** The version of keys and entries. */
const FORMAT_VERSION = 1;

function digest(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** Whether it is the end that a model itself gave its answer, and no refusal of its provider. */
function isWhole(outcome: CallOutcome): boolean {
  if (outcome.kind === 'result') return isDone(outcome.result.finishReason);
  if (outcome.kind === 'error') return false;
  const last = outcome.parts.at(-1);
  const hasError = outcome.parts.some(({ type }) => type === 'error');
  return !hasError && last?.type === 'finish' && isDone(last.finishReason);
}

function isDone({ unified }: LanguageModelV4FinishReason): boolean {
  return unified === 'stop' || unified === 'length' || unified === 'tool-calls';
}

/** Without what the connection has carried beside the answer. */
function withoutTransfer(outcome: CallOutcome): CallOutcome {
  if (outcome.kind === 'result') return { kind: 'result', result: withoutTransport(outcome.result) };
  if (outcome.kind === 'error') return outcome;
  return { kind: 'parts', parts: outcome.parts.filter(({ type }) => type !== 'raw') };
}

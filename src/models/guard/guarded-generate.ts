import type { LanguageModelV4GenerateResult, LanguageModelV4Usage } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { type AnswerOutcome, runAfterCall } from './after-call.ts';
import { type AdmittedCall, type CallSettings, type ModelCall, runBeforeCall } from './before-call.ts';
import {
  reportDecisions,
  tokenCounts,
  withReport,
  withTextlessReport,
  zeroUsage,
} from './decision-report.ts';
import { createUniqueToolCallIds } from './unique-tool-call-ids.ts';

type Result = LanguageModelV4GenerateResult;

/** Calls the model through the hooks of both phases. Throws DENIED, or what the model throws. */
export async function generateGuarded(call: ModelCall, settings: CallSettings): Promise<Result> {
  const { signal } = settings;
  const admitted = await runBeforeCall(call, settings);
  signal?.throwIfAborted();
  if (admitted.kind === 'refuse') throw admitted.error;
  if (admitted.kind === 'answer') {
    const { text, finishReason } = admitted.answer;
    const report = reportDecisions({ before: admitted.decision });
    return { ...textResult(text), finishReason, usage: zeroUsage, warnings: [], providerMetadata: report };
  }
  const startedAt = performance.now();
  const result = await callModel(admitted);
  const latencyMs = Math.round(performance.now() - startedAt);
  const outcome = await runAfterCall(result, { fire: settings.fire, admitted, latencyMs, signal });
  if (outcome.kind === 'refuse') signal?.throwIfAborted();
  return toResult(result, admitted, outcome);
}

async function callModel({ model, params }: AdmittedCall): Promise<Result> {
  try {
    const result = await model.doGenerate(params);
    const content = createUniqueToolCallIds(params.prompt).content(result.content);
    return { ...result, content, usage: knownUsage(result.usage) };
  } catch (error) {
    throw withoutAnswerText(error);
  }
}

function toResult(result: Result, { decision: before }: AdmittedCall, outcome: AnswerOutcome): Result {
  switch (outcome.kind) {
    case 'refuse':
      throw outcome.error;
    case 'same': {
      const report = withReport(result.providerMetadata, { before, after: outcome.decision });
      return { ...withSeenOutput(result), providerMetadata: report };
    }
    case 'replaced': {
      const { content, finishReason, decision } = outcome;
      return {
        ...withoutQuotes(result),
        content,
        finishReason,
        providerMetadata: withTextlessReport(result.providerMetadata, { before, after: decision }),
      };
    }
    case 'answer': {
      const { answer, decision } = outcome;
      const report = reportDecisions({ before, after: decision });
      const { finishReason } = answer;
      return { ...withoutQuotes(result), ...textResult(answer.text), finishReason, providerMetadata: report };
    }
  }
}

function textResult(text: string): Pick<Result, 'content'> {
  return { content: text === '' ? [] : [{ type: 'text', text }] };
}

/** Without a text for structured output that is no part of what the hooks have seen. */
function withSeenOutput(result: Result): Result {
  const { structuredOutputText: output, ...rest } = result;
  const isSeen = output !== undefined && textOf(result).includes(output);
  return isSeen ? result : rest;
}

function textOf({ content }: Result): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** The members of a withheld answer that cannot quote it; bodies, headers and metadata may. */
function withoutQuotes({ usage, response, warnings }: Result): Omit<Result, 'content' | 'finishReason'> {
  const { id, timestamp, modelId } = response ?? {};
  return {
    usage: tokenCounts(usage),
    warnings,
    response: {
      ...(id !== undefined && { id }),
      ...(timestamp !== undefined && { timestamp }),
      ...(modelId !== undefined && { modelId }),
    },
  };
}

/**
 * A provider's error without text of an answer that no hook has seen: errors about an answer that could not
 * be parsed quote it and become PROVIDER_FAILED. All others pass unchanged, so that callers can retry.
 */
export function withoutAnswerText(thrown: unknown): unknown {
  if (!quotesAnswer(thrown)) return thrown;
  return new RuntimeError('PROVIDER_FAILED', 'the model’s answer could not be read', {
    hint: 'The answer itself is withheld, because no hook has seen it.',
  });
}

const quotingErrors = new Set([
  'AI_TypeValidationError',
  'AI_JSONParseError',
  'AI_InvalidResponseDataError',
  'AI_NoContentGeneratedError',
  'AI_NoObjectGeneratedError',
]);

function quotesAnswer(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; isObject(error); depth++) {
    const { name, statusCode: status, cause, errors } = error;
    if (typeof name === 'string' && quotingErrors.has(name)) return true;
    if (typeof status === 'number' && status < 300) return true;
    if (Array.isArray(errors) && errors.some(quotesAnswer)) return true;
    // A chain of causes may be a circle.
    if (depth > 16) return true;
    error = cause;
  }
  return false;
}

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

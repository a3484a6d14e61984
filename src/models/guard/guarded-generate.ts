import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
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
import { knownUsage } from './usage.ts';
import { withoutAnswerText } from './withheld-error.ts';

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

import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { type Judgement, judgeAnswer } from './answer.ts';
import { type Admitted, admitCall, type CallSettings, type ModelCall } from './call.ts';
import { newDistinctCalls } from './distinct-calls.ts';
import { withoutAnswer } from './error.ts';
import { bareUsage, noUsage, reportDecisions, withKnown, withReport } from './report.ts';
import { knownUsage } from './usage.ts';

type Result = LanguageModelV4GenerateResult;

/** One whole answer through both phases. Throws DENIED, or what the model throws. */
export async function generateGuarded(call: ModelCall, settings: CallSettings): Promise<Result> {
  const { signal } = settings;
  const admitted = await admitCall(call, settings);
  signal?.throwIfAborted();
  if (admitted.kind === 'refuse') throw admitted.error;
  if (admitted.kind === 'answer') {
    const { text, finishReason } = admitted.answer;
    const report = reportDecisions({ before: admitted.decision });
    return { ...textResult(text), finishReason, usage: noUsage, warnings: [], providerMetadata: report };
  }
  const startedAt = performance.now();
  const result = await callModel(admitted);
  const latencyMs = Math.round(performance.now() - startedAt);
  const judgement = await judgeAnswer(result, { fire: settings.fire, admitted, latencyMs, signal });
  if (judgement.kind === 'refuse') signal?.throwIfAborted();
  return release(result, admitted, judgement);
}

async function callModel({ model, params }: Admitted): Promise<Result> {
  try {
    const result = await model.doGenerate(params);
    const content = newDistinctCalls(params.prompt).content(result.content);
    return { ...result, content, usage: knownUsage(result.usage) };
  } catch (error) {
    throw withoutAnswer(error);
  }
}

function release(result: Result, { decision: before }: Admitted, judgement: Judgement): Result {
  switch (judgement.kind) {
    case 'refuse':
      throw judgement.error;
    case 'same': {
      const report = withReport(result.providerMetadata, { before, after: judgement.decision });
      return { ...withSeenOutput(result), providerMetadata: report };
    }
    case 'replaced': {
      const { content, finishReason, decision } = judgement;
      return {
        ...bareResult(result),
        content,
        finishReason,
        providerMetadata: withKnown(result.providerMetadata, { before, after: decision }),
      };
    }
    case 'answer': {
      const { answer, decision } = judgement;
      const report = reportDecisions({ before, after: decision });
      const { finishReason } = answer;
      return { ...bareResult(result), ...textResult(answer.text), finishReason, providerMetadata: report };
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

/** What may be told of an answer that is withheld: bodies, headers and the provider's notes may all quote it. */
function bareResult({ usage, response, warnings }: Result): Omit<Result, 'content' | 'finishReason'> {
  const { id, timestamp, modelId } = response ?? {};
  return {
    usage: bareUsage(usage),
    warnings,
    response: {
      ...(id !== undefined && { id }),
      ...(timestamp !== undefined && { timestamp }),
      ...(modelId !== undefined && { modelId }),
    },
  };
}

import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ChatMessage } from '../contract/provider.ts';
import { type Fault, RuntimeError, toFault } from '../errors.ts';
import { Json } from '../json.ts';
import { toPrompt } from '../provider/prompt.ts';
import { type Answered, askModel } from './ask-model.ts';

import { exactMembers, requireMember } from './exact.ts';
import { parseMessage } from './message.ts';
import type { ChatStep } from './model.ts';
import type { GuardedModel, OfferedTool, RunContext } from './run-context.ts';

/** What a model answered, and what that cost. */
export interface ModelAnswer extends Answered {
  /** US dollars; absent where the provider has no pricing. */
  readonly cost_usd?: number;
}

interface Question {
  readonly step: ChatStep;
  readonly offered: ReadonlyMap<string, OfferedTool>;
  readonly talk: { readonly system: string; readonly messages: readonly ChatMessage[] };
  readonly signal: AbortSignal;
  /** Told of streamed text as the guard releases it. */
  readonly onText: (text: string) => void;
}

/** Asks the model once: what the journal has is not asked again. What went wrong is an answer too. */
export async function journalAnswer(
  run: RunContext,
  path: string,
  question: Question,
): Promise<ModelAnswer | { readonly error: Fault }> {
  const entry = await run.journal.step(path, async () => {
    try {
      return Json.from(await ask(run, question));
    } catch (error) {
      const fault = toFault(error);
      if (fault.code === 'ABORTED' && run.signal.aborted) throw error;
      return Json.from({ error: fault });
    }
  });
  const members = exactMembers(entry);
  const plain = entry.value as PlainAnswer;
  if (plain.error !== undefined) return { error: plain.error };
  return {
    message: parseMessage(requireMember(members, 'message').text),
    finish_reason: plain.finish_reason,
    usage: plain.usage,
    ...(plain.cost_usd !== undefined && { cost_usd: plain.cost_usd }),
    metadata: requireMember(members, 'metadata'),
  };
}

/** What `journalAnswer` keeps, parsed. */
interface PlainAnswer extends Pick<ModelAnswer, 'finish_reason' | 'usage' | 'cost_usd'> {
  readonly error?: Fault;
}

async function ask(run: RunContext, question: Question): Promise<ModelAnswer> {
  const { step, signal, onText } = question;
  const guarded = await run.model(step.provider, step.stream === 'windowed' ? 'windowed' : 'hold');
  const answer = await askModel(guarded.model, {
    options: toOptions(run, question),
    isStreamed: step.stream !== undefined,
    onText,
  });
  if (signal.aborted) throw new RuntimeError('ABORTED', 'the model call was given up');
  const cost = costOf(guarded, answer.usage);
  return { ...answer, ...(cost !== undefined && { cost_usd: cost }) };
}

function toOptions(run: RunContext, { step, offered, talk, signal }: Question): LanguageModelV4CallOptions {
  const { temperature, maxTokens } = step;
  const tools = [...offered.values()].map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    ...(description !== '' && { description }),
    // A schema that is true or absent takes any object.
    inputSchema: typeof inputSchema === 'object' ? inputSchema : { type: 'object' as const },
  }));
  return {
    prompt: toPrompt({ messages: talk.messages, system_prompt: talk.system }),
    abortSignal: signal,
    providerOptions: { signalbox: { metadata: { session_id: run.session.id } } },
    ...(tools.length > 0 && { tools, toolChoice: { type: 'auto' as const } }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  };
}

function costOf({ pricing }: GuardedModel, usage: ModelAnswer['usage']): number | undefined {
  if (pricing === undefined) return undefined;
  return (usage.input_tokens * pricing.input + usage.output_tokens * pricing.output) / 1000;
}

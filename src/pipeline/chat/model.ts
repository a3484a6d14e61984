import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { Scene } from '../../contract/turn.ts';
import { type Fault, RuntimeError, toFault } from '../../errors.ts';
import { parseMessage } from '../../hooks/message.ts';
import { toDecimal } from '../../json/decimal.ts';
import { Json } from '../../json/json.ts';
import { exactMembers, requireMember } from '../../json/members.ts';
import { toPrompt } from '../../provider/messages/prompt.ts';
import { toFunctionTool } from '../../provider/messages/tools.ts';
import type { OnRetry } from '../../provider/open/retries.ts';
import type { ChatStep } from '../file/model.ts';
import type { AskedTurn, GuardedModel, RunContext } from '../state/run-context.ts';
import { type Answered, askModel } from './ask-model.ts';

/** What a model answered, and what that cost. */
export interface ModelAnswer extends Answered {
  /** US dollars; absent where the provider has no pricing, or does not say what was used. */
  readonly cost_usd?: number;
}

interface Question {
  readonly step: ChatStep;
  readonly talk: {
    readonly system: string;
    readonly messages: readonly ChatMessage[];
    readonly offered: readonly ToolListing[];
    /** Undefined: the provider's own. */
    readonly model: string | undefined;
    readonly options: ModelOptions;
  };
  readonly scene: Scene;
  readonly signal: AbortSignal;
  /** Told when the hooks have let the call pass, and the model is about to be asked. */
  readonly onCall: (asked: AskedTurn) => void;
  readonly onRetry: OnRetry;
  /** Told when there is an answer that the journal did not have. */
  readonly onAnswer: () => void;
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
      const answer = await ask(run, question);
      question.onAnswer();
      return Json.from(answer);
    } catch (error) {
      // Whatever broke when the run was set down is done again when it goes on.
      if (run.signal.aborted) throw toAborted(error);
      return Json.from({ error: toFault(error) });
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

function toAborted(cause: unknown): RuntimeError {
  return new RuntimeError('ABORTED', 'the model call was given up', { cause });
}

/** What `journalAnswer` keeps, parsed. */
interface PlainAnswer extends Pick<ModelAnswer, 'finish_reason' | 'usage' | 'cost_usd'> {
  readonly error?: Fault;
}

async function ask(run: RunContext, question: Question): Promise<ModelAnswer> {
  const { step, talk, scene, signal, onText, onCall, onRetry } = question;
  const stream = step.stream === 'windowed' ? 'windowed' : 'hold';
  const guarded = await run.model(step.provider, stream, { name: talk.model, scene, onCall, onRetry });
  const answer = await askModel(guarded.model, {
    options: toOptions(run, question),
    isStreamed: step.stream !== undefined,
    onText,
  });
  if (signal.aborted) throw new RuntimeError('ABORTED', 'the model call was given up');
  const cost = costOf(guarded, answer.usage);
  return { ...answer, ...(cost !== undefined && { cost_usd: cost }) };
}

function toOptions(run: RunContext, { talk, signal }: Question): LanguageModelV4CallOptions {
  const { temperature, max_tokens: maxTokens } = talk.options;
  const tools = talk.offered.map(toFunctionTool);
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
  const { input_tokens: input, output_tokens: output } = usage;
  if (pricing === undefined || input === null || output === null) return undefined;
  return toDecimal((input * pricing.input + output * pricing.output) / 1000);
}

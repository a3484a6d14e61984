import type { ChatMessage } from '../../../contract/provider.ts';
import type { TokenUsage, WireRules } from '../codec.ts';
import type { Edits } from '../edits.ts';
import { invalidAnswer } from '../faults.ts';
import { Leftovers } from '../leftovers.ts';
import type { Place } from '../place.ts';
import { plainReplaced } from '../replaced-messages.ts';
import { finishReasonOf, finishWordOf, isKnownFinish } from './finish-reason.ts';
import { readAssistantMessage } from './message.ts';
import { answerSide } from './read-context.ts';
import type { ToldCall } from './tool-calls.ts';

/** A choice of an answer: what hooks are told of it, and how to write what they made of that. */
export interface ReadChoice {
  readonly told: ChatMessage;
  readonly calls: readonly ToldCall[];
  /** Throws REPLY_MALFORMED. */
  write(changed: ChatMessage, edits: Edits): void;
}

export interface ChoiceOptions {
  readonly index: number;
  readonly rules: WireRules;
  readonly usage: TokenUsage | undefined;
  /** What stands beside the choices and is told nowhere else; that of the first choice. */
  readonly rest: Leftovers | undefined;
}

export function readChoice(choice: Place, { index, rules, usage, rest }: ChoiceOptions): ReadChoice {
  const at = `choices[${index}]`;
  const place = choice.at('message');
  if (place?.kind !== 'object') throw invalidAnswer(`${at} has no message`);
  requireRole(place, `${at}.message`);
  const leftovers = new Leftovers();
  if (rest !== undefined) leftovers.addAll(rest, '');
  leftovers.addMembers(choice, toldOf(choice), 'choice');
  const message = readAssistantMessage(place, { rules, at: `${at}.message`, leftovers, side: answerSide });
  const finish = choice.at('finish_reason');
  const told = {
    ...message.told,
    ...(finish?.text !== undefined && { finish_reason: finishWordOf(finish.text) }),
    ...(usage && { cost_info: { input_tokens: usage.input, output_tokens: usage.output } }),
  };
  return {
    told,
    calls: message.calls,
    write: (changed, edits) => {
      message.write(changed, edits);
      writeLogprobs(changed, { told, choice, leftovers }, edits);
      writeFinish(changed, { choice, finish, hadCalls: message.calls.length > 0 }, edits);
    },
  };
}

function requireRole(message: Place, at: string): void {
  const role = message.at('role');
  if (role !== undefined && role.kind !== 'null' && role.text !== 'assistant')
    throw answerSide.unknown(role.text, `${at}.role`);
}

/** The members of a choice that are told as such, or that hold no text. */
function toldOf(choice: Place): ReadonlySet<string> {
  const told = ['message'];
  if (choice.at('index')?.kind === 'number') told.push('index');
  for (const key of ['finish_reason', 'logprobs']) {
    const kind = choice.at(key)?.kind;
    if (kind === 'null' || (kind === 'string' && key === 'finish_reason')) told.push(key);
  }
  return new Set(told);
}

interface SentChoice {
  readonly told: ChatMessage;
  readonly choice: Place;
  readonly leftovers: Leftovers;
}

/** The tokens repeat the text: they go when it changes, unless the hook has changed them as well. */
function writeLogprobs(changed: ChatMessage, { told, choice, leftovers }: SentChoice, edits: Edits): void {
  const plain = plainReplaced(changed);
  const logprobs = choice.at('logprobs');
  const isSameText =
    plain['content'] === told.content && (plain['refusal'] ?? '') === (told['refusal'] ?? '');
  if (logprobs === undefined || isSameText || !leftovers.isUnchanged('choice.logprobs', plain['other']))
    return;
  edits.replaceWhole(logprobs, 'null');
}

interface SentFinish {
  readonly choice: Place;
  readonly finish: Place | undefined;
  readonly hadCalls: boolean;
}

/** The reason that the hook gives, else the old one; it says `tool_calls` exactly when there are some. */
function writeFinish(changed: ChatMessage, { choice, finish, hadCalls }: SentFinish, edits: Edits): void {
  const plain = plainReplaced(changed);
  const given = plain['finish_reason'];
  const old = finish?.text;
  const isKept =
    given === undefined || given === null
      ? old === undefined || isKnownFinish(old)
      : given === finishWordOf(old ?? '');
  const wanted = isKept ? old : finishReasonOf(typeof given === 'string' ? given : 'stop');
  const calls = plain['tool_calls'];
  const hasCalls = Array.isArray(calls) && calls.length > 0;
  const reason = adapt(wanted, { hadCalls, hasCalls });
  if (reason === old) return;
  const json = JSON.stringify(reason ?? null);
  if (finish === undefined) edits.addMember(choice, 'finish_reason', json);
  else edits.replace(finish, json);
}

function adapt(reason: string | undefined, { hadCalls, hasCalls }: { hadCalls: boolean; hasCalls: boolean }) {
  const isForCalls = reason === 'tool_calls' || reason === 'function_call';
  if (isForCalls && hadCalls && !hasCalls) return 'stop';
  return reason === 'stop' && hasCalls && !hadCalls ? 'tool_calls' : reason;
}

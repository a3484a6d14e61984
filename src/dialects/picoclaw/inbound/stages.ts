import type { DecisionDocument } from '../../../contract/document.ts';
import type { InboundEvent, Told } from '../../../inbound/inbound.ts';
import { afterAnswer, afterExecution, beforeExecution, textAt } from '../../../inbound/native-event.ts';
import { changedText, reasonOf } from '../../../inbound/reason.ts';
import { isObject, stringifyJson } from '../../../json/json.ts';
import { changedRequest, conversationOf, leftovers } from './request.ts';

/** A moment at which PicoClaw waits for an answer. */
export interface Stage {
  /** What native hooks are asked. */
  toEvent(params: Told): InboundEvent;
  /** A change leaves what stands beside the text; else it takes it away. */
  readonly keepsRest?: true;
  /** The event with what the first one does not hold, as one text; undefined where nothing is left. */
  toEventOfRest?(params: Told): InboundEvent | undefined;
  toResult(params: Told, decision: DecisionDocument): Told;
  toDenial(params: Told, reason: string): Told;
}

const goOn: Told = { action: 'continue' };

function callOf(params: Told) {
  return { name: params['tool'], args: params['arguments'] ?? {}, call_id: '' };
}

function callerOf(params: Told) {
  return { agent: 'picoclaw', session: textAt(objectAt(params, 'meta'), 'SessionKey'), cwd: '' };
}

function objectAt(params: Told, key: string): Told {
  const value = params[key];
  return isObject(value) ? value : {};
}

/** All of a result or an answer but its text, and what only repeats it. */
function restOf(params: Told, key: 'response' | 'result', text: string): string | undefined {
  const whole: unknown = params[key];
  const { [text]: shown, ...members } = objectAt(params, key);
  const own: [string, unknown][] = isObject(whole) ? Object.entries(members) : [[key, whole]];
  const rest = leftovers([
    ...own.filter(([name, value]) => value !== shown && !(known[name]?.includes(value) ?? false)),
    ...(shown === undefined || typeof shown === 'string' ? [] : [[text, shown] as const]),
  ]);
  return rest && stringifyJson(rest);
}

/** Words of PicoClaw's own, which say nothing. */
const known: Readonly<Record<string, readonly unknown[]>> = {
  role: ['assistant'],
  finish_reason: ['stop', 'tool_calls', 'length', 'content_filter'],
};

const abort = (_params: Told, reason: string): Told => ({ action: 'abort_turn', reason });

/** What is no allowance and no change: a denial, with how much it ends. */
function refused(decision: DecisionDocument, denied: Told): Told {
  if (decision.verdict !== 'abort') return denied;
  return { action: decision.abort === 'session' ? 'hard_abort' : 'abort_turn', reason: reasonOf(decision) };
}

const cannotChange = (decision: DecisionDocument) => `${reasonOf(decision)}. It cannot be changed here.`;

const beforeModel: Stage = {
  toEvent: (params) => ({ hook: 'provider', phase: 'before_call', request: conversationOf(params) }),
  toResult: (params, decision) => {
    if (decision.verdict === 'allow') return goOn;
    if (decision.verdict !== 'modify') return refused(decision, abort(params, reasonOf(decision)));
    const request = changedRequest(params, decision);
    return request === undefined ? abort(params, cannotChange(decision)) : { action: 'modify', request };
  },
  toDenial: abort,
};

const afterModel: Stage = {
  keepsRest: true,
  toEvent: (params) => afterAnswer('picoclaw', textAt(objectAt(params, 'response'), 'content')),
  toEventOfRest: (params) => {
    const rest = restOf(params, 'response', 'content');
    return rest === undefined ? undefined : afterAnswer('picoclaw', rest);
  },
  toResult: (params, decision) => {
    if (decision.verdict === 'allow') return goOn;
    if (decision.verdict !== 'modify') return refused(decision, abort(params, reasonOf(decision)));
    const content = changedText(decision);
    if (content === undefined) return abort(params, cannotChange(decision));
    const response = { ...objectAt(params, 'response'), content };
    return { action: 'modify', response: { model: params['model'], response } };
  },
  toDenial: abort,
};

const beforeTool: Stage = {
  toEvent: (params) => beforeExecution(callOf(params)),
  toResult: (params, decision) => {
    const { verdict, replace, result } = decision;
    if (verdict === 'allow') return goOn;
    if (verdict === 'modify' && isObject(replace?.['args']))
      return { action: 'modify', call: { tool: params['tool'], arguments: replace['args'] } };
    if (verdict === 'respond' && typeof result === 'string')
      return { action: 'respond', result: { for_llm: result, is_error: false } };
    return refused(decision, beforeTool.toDenial(params, reasonOf(decision)));
  },
  toDenial: (_params, reason) => ({ action: 'deny_tool', reason }),
};

/** Judged once more: what took too long at the stage before has gone on there, and does not here. */
const approveTool: Stage = {
  // People are asked about the call as the last hook has left it, and once.
  toEvent: (params) => beforeExecution(callOf(params), callerOf(params)),
  toResult: (params, decision) =>
    decision.verdict === 'allow' ? { approved: true } : approveTool.toDenial(params, reasonOf(decision)),
  toDenial: (_params, reason) => ({ approved: false, reason }),
};

const afterTool: Stage = {
  toEvent: (params) => {
    const result = objectAt(params, 'result');
    const text = textAt(result, 'for_llm');
    const nanoseconds = typeof params['duration'] === 'number' ? params['duration'] : 0;
    const outcome = result['is_error'] === true ? { error: text } : { content: text };
    return afterExecution(callOf(params), outcome, nanoseconds / 1e6);
  },
  toEventOfRest: (params) => {
    const rest = restOf(params, 'result', 'for_llm');
    return rest === undefined ? undefined : afterExecution(callOf(params), { content: rest });
  },
  toResult: (params, decision) => {
    const content = decision.replace?.['content'];
    if (decision.verdict === 'allow') return goOn;
    if (decision.verdict !== 'modify' || typeof content !== 'string')
      return refused(decision, afterTool.toDenial(params, reasonOf(decision)));
    return withResult(params, { for_llm: content, for_user: '', media: [] });
  },
  toDenial: (params, reason) =>
    withResult(params, { for_llm: `[withheld: ${reason}]`, for_user: '', media: [], is_error: true }),
};

/** Another result: of what a person would have been shown, and of files, nothing was judged. */
function withResult(params: Told, fields: Told): Told {
  const result = { ...objectAt(params, 'result'), ...fields };
  const { tool, arguments: args, duration } = params;
  return { action: 'modify', result: { tool, arguments: args, result, duration } };
}

/** By the names of their methods, without `hook.`. */
export const stages: Readonly<Record<string, Stage | undefined>> = Object.assign(Object.create(null), {
  ...{ before_llm: beforeModel, after_llm: afterModel },
  ...{ before_tool: beforeTool, approve_tool: approveTool, after_tool: afterTool },
});

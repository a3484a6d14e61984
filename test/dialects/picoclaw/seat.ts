import { RuntimeError, toFault } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { type Answer, answers } from '../../../src/contract/hook.ts';
import { createHookContext, type HookContext } from '../../../src/contract/turn.ts';
import type { HookEntry, Payload, Question } from '../../../src/dialects/foreign-dialect.ts';
import type { PicoclawSettings } from '../../../src/dialects/picoclaw/config/settings.ts';
import { picoclaw } from '../../../src/dialects/picoclaw/dialect.ts';
import type { Reply } from '../../../src/process/transport.ts';

const settings: PicoclawSettings = {
  version: '0.2.8-doc',
  eventKind: 'number',
  intercept: ['before_llm', 'after_llm', 'before_tool', 'after_tool', 'approve_tool'],
  observe: ['*'],
  isLenient: false,
  helloTimeoutMs: 11,
  interceptorTimeoutMs: 12,
  approvalTimeoutMs: 13,
  observerTimeoutMs: 14,
};

type Change = Partial<PicoclawSettings> & { readonly onFailure?: 'deny' };

export function seatOf({ onFailure, ...change }: Change = {}): HookEntry<PicoclawSettings> {
  return { name: 'gate', onFailure: onFailure ?? 'own', cwd: '/', settings: { ...settings, ...change } };
}

export const scene: HookContext = { ...createHookContext('sk'), turn_id: 'main-turn-1', round: 1 };

const system = '{"role":"system","content":"Be kind."}';
const user = '{"role":"user","content":"Hi"}';

export const given: Readonly<Record<string, Payload>> = {
  before_llm: { model: 'm', messages: new Json(`[${system},${user}]`), options: { max_tokens: 5 } },
  after_llm: {
    model: 'm',
    response: new Json(
      '{"content":"Hi","reasoning_content":"hm","tool_calls":[{"id":"1","type":"function","function":{"name":"echo","arguments":"{}"}}]}',
    ),
  },
  before_tool: { tool: 'echo', arguments: new Json('{"a":1}') },
  approve_tool: { tool: 'echo', arguments: new Json('{"a":1}') },
  after_tool: { tool: 'echo', arguments: {}, result: { for_llm: 'out' } },
};

export function ask(point: string): Question {
  return { point, payload: picoclaw.complete(point, given[point] ?? {}, scene), hookContext: scene };
}

export const answered = (result: string): Reply => ({ via: 'rpc', result: new Json(result) });

/** The dialect's answer to a reply. An error becomes the denial that the runtime makes of it. */
export function answerTo(point: string, reply: Reply | RuntimeError, change: Change = {}): Answer {
  try {
    return picoclaw.decode(seatOf(change), ask(point), reply).output;
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    return answers.deny(`threw ${thrown.code}`, { error: toFault(thrown) });
  }
}

/** An answer in one line: verdict, replacement or answer, reason, and the rule by which it passed. */
export function say(answer: Answer): string {
  const { failed_open } = JSON.parse(answer.metadata.text) as { failed_open?: { cause: string } };
  const rule = failed_open === undefined ? '' : ` by ${failed_open.cause}`;
  const verdict = answer.verdict === 'abort' ? `abort ${answer.scope}` : answer.verdict;
  const what = answer.verdict === 'modify' ? ` ${answer.replace.text}` : '';
  const result = answer.verdict === 'respond' ? ` ${answer.result.text}` : '';
  const reason = answer.reason === '' ? '' : ` "${answer.reason}"`;
  return `${verdict}${what}${result}${reason}${rule}`;
}

export function sayReply(point: string, result: string, change: Change = {}): string {
  return say(answerTo(point, answered(result), change));
}

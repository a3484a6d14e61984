import { RuntimeError, toFault } from '../../../src/base/errors.ts';
import { type Answer, answers } from '../../../src/contract/hook.ts';
import { createHookContext, type HookContext } from '../../../src/contract/turn.ts';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import { type ChibiSettings, requirePoint } from '../../../src/dialects/chibi/points.ts';
import { type Composed, compose, type HookAnswer } from '../../../src/dialects/compose.ts';
import type { HookEntry, Payload, Question } from '../../../src/dialects/foreign-dialect.ts';
import type { ProcessReply, Reply } from '../../../src/process/transport.ts';

export const scene: HookContext = {
  ...createHookContext('s1'),
  context_name: 'desk',
  fuel: { remaining: 30, total: 40 },
};

export function seatOf(name: string, onFailure: 'own' | 'deny' = 'own'): HookEntry<ChibiSettings> {
  const points = Object.keys(chibi.points);
  const settings = { tool: `${name}_tool`, points, chibiHome: '/home/me/.chibi', projectRoot: '/project' };
  return { name, onFailure, cwd: '/project', settings };
}

export function questionAt(point: string, payload: Payload = {}, where: HookContext = scene): Question {
  return { point, payload, hookContext: where };
}

export function printed(stdout: string | Uint8Array, exit: Partial<ProcessReply> = {}): ProcessReply {
  return { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(stdout), stderr: '', ...exit };
}

/** One plugin's answer. A RuntimeError becomes the denial that the runtime makes of it. */
export function readAt(
  point: string,
  reply: Reply | RuntimeError,
  onFailure: 'own' | 'deny' = 'own',
): Answer {
  return readAs(seatOf('guard', onFailure), questionAt(point), reply);
}

function readAs(seat: HookEntry<ChibiSettings>, question: Question, reply: Reply | RuntimeError): Answer {
  try {
    return chibi.decode(seat, question, reply).output;
  } catch (thrown) {
    // Any other error is a defect and fails the test.
    if (!(thrown instanceof RuntimeError)) throw thrown;
    const error = toFault(thrown);
    return answers.deny(error.code, { error });
  }
}

/** Composes the answers of plugins a, b, c, … until one aborts. */
export function ask(question: Question, replies: readonly (string | RuntimeError)[]): Composed {
  const point = requirePoint(question.point);
  const spoken: HookAnswer[] = [];
  for (const [index, says] of replies.entries()) {
    const hook = 'abc'.charAt(index);
    const reply = typeof says === 'string' ? printed(says) : says;
    const answer = readAs(seatOf(hook), question, reply);
    spoken.push({ hook, answer });
    if (point.ends?.includes(answer.verdict)) break;
  }
  const composed = compose(spoken, point.composition);
  return chibi.conclude?.(question, spoken, composed) ?? composed;
}

export function say(answer: Answer): string {
  const { verdict, reason, metadata } = answer;
  const parts = [verdict, JSON.stringify(reason)];
  if (verdict === 'modify') parts.push(answer.replace.text);
  if (verdict === 'respond') parts.push(answer.result.text);
  if (verdict === 'abort') parts.push(answer.scope);
  if (metadata.text !== '{}') parts.push(metadata.text);
  return parts.join(' ');
}

export function sayComposed({ hook, answer }: Composed): string {
  return `${hook ?? '-'}: ${say(answer)}`;
}

import fc from 'fast-check';
import { type ErrorCode, RuntimeError } from '../../../../src/base/errors.ts';
import { Json } from '../../../../src/base/json/json.ts';
import type { Link } from '../../../../src/calls/hooks/gate.ts';
import { decisionOf } from '../../../../src/calls/hooks/hook-chain.ts';
import { answers, type Decision, type HookEvent } from '../../../../src/contract/hook.ts';
import type { Bench } from '../../capability/bench.ts';

type Does =
  | {
      readonly does: 'allow' | 'deny' | 'enforce' | 'ask';
      readonly reason: string;
      readonly metadata: Members;
    }
  /** Replaces the event's text: the arguments of a tool, or the answer of a model. */
  | { readonly does: 'modify'; readonly reason: string; readonly metadata: Members; readonly text: string }
  | { readonly does: 'misreplace' | 'junk' | 'time out' };

type Members = Readonly<Record<string, number>>;

export interface Hook {
  readonly mode: 'filter' | 'observe';
  readonly answer: Does;
  /** Declares `modifies: false`. */
  readonly isStill: boolean;
  /** False for hooks of other kinds and phases. */
  readonly isMeant: boolean;
}

/** The reply to a question. */
export type Reply = 'nothing' | 'approved before' | 'allow' | 'nobody allows' | 'modify' | 'deny' | 'abort';

const reason = fc.constantFrom('', 'so', 'no');
const metadata = fc.dictionary(fc.constantFrom('a', 'b'), fc.nat(3), { noNullPrototype: true });
const said = { reason, metadata };

export const hook: fc.Arbitrary<Hook> = fc.record({
  mode: fc.constantFrom('filter', 'filter', 'filter', 'observe'),
  answer: fc.oneof(
    { weight: 5, arbitrary: fc.record({ does: fc.constant('allow'), ...said }) },
    {
      weight: 4,
      arbitrary: fc.record({ does: fc.constant('modify'), ...said, text: fc.constantFrom('x', 'y', 'bad') }),
    },
    { weight: 3, arbitrary: fc.record({ does: fc.constantFrom('deny', 'enforce', 'ask'), ...said }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('misreplace', 'junk', 'time out') }) },
  ),
  isStill: fc.boolean(),
  isMeant: fc.constantFrom(true, true, true, false),
});

export const reply: fc.Arbitrary<Reply> = fc.constantFrom(
  'nothing',
  'approved before',
  'allow',
  'nobody allows',
  'modify',
  'deny',
  'abort',
);

/** undefined: nobody answers. */
export function answerOf(to: Reply): Decision | undefined {
  const by = { hook: to === 'nobody allows' ? null : 'desk', dialect: 'other' };
  const beside = { reason: 'desk says', metadata: Json.from({ desk: 1 }) };
  switch (to) {
    case 'nothing':
    case 'approved before':
      return undefined;
    case 'allow':
    case 'nobody allows':
      return decisionOf(by, answers.allow(beside));
    case 'modify':
      return decisionOf(by, answers.modify({ args: { text: 'desk' } }, beside));
    case 'deny':
      return decisionOf(by, answers.deny('desk says', { metadata: beside.metadata }));
    case 'abort':
      return decisionOf(by, answers.abort('desk says', 'session', { metadata: beside.metadata }));
  }
}

export type Phase = 'before_execution' | 'after_call';

/** The output of a process with that answer. undefined: no output. */
function replyOf(answer: Does, phase: Phase): string | undefined {
  const replace = (text: string) =>
    phase === 'after_call' ? { message: { role: 'assistant', content: text } } : { args: { text } };
  switch (answer.does) {
    case 'time out':
      return undefined;
    case 'junk':
      return 'hello';
    case 'misreplace':
      return '{"allow": true, "replace": {"nothing": 1}}';
    case 'modify': {
      const { reason, metadata, text } = answer;
      return JSON.stringify({ allow: true, reason, metadata, replace: replace(text) });
    }
    default: {
      const { does, reason, metadata } = answer;
      const more = { ...(does === 'enforce' && { enforced: true }), ...(does === 'ask' && { ask: true }) };
      return JSON.stringify({ allow: does === 'allow', reason, metadata, ...more });
    }
  }
}

export interface Told {
  readonly hook: string;
  readonly event: HookEvent;
}

export function linksOf(bench: Bench, hooks: readonly Hook[], phase: Phase, told: Told[]): Link[] {
  const kind = phase === 'after_call' ? 'provider' : 'tool';
  return hooks.map(({ mode, answer, isStill, isMeant }, index): Link => {
    const name = nameOf(index);
    const place = { name, dialect: 'promptkit', kind: isMeant ? kind : 'session', phases: [phase] } as const;
    if (mode === 'observe') {
      const follower = {
        enqueue: (event: HookEvent) => told.push({ hook: name, event }),
        close: async () => {},
      };
      return { ...place, listener: { mode, follower } };
    }
    const port = bench.filter({ runs: ['answers'] });
    const text = replyOf(answer, phase);
    const exchange = async () => {
      if (text === undefined) throw new RuntimeError('PROCESS_TIMEOUT', 'took too long');
      return { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(text), stderr: '' } as const;
    };
    const transport = { ...port.transport, exchange };
    const binding = { ...port.binding, name };
    return {
      ...place,
      listener: { mode, port: { ...port, binding, transport, modifies: isStill ? false : undefined } },
    };
  });
}

export function nameOf(index: number): string {
  return `hook${index}`;
}

export function faultOf({ answer, isStill }: Hook): ErrorCode | undefined {
  if (answer.does === 'time out') return 'PROCESS_TIMEOUT';
  if (answer.does === 'junk' || answer.does === 'misreplace') return 'REPLY_MALFORMED';
  return answer.does === 'modify' && isStill ? 'REPLY_MALFORMED' : undefined;
}

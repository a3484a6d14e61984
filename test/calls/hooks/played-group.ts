import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import type { GroupContext, HookCall, Member } from '../../../src/calls/hooks/group.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import { type Answer, answers, type HookEvent } from '../../../src/contract/hook.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import type { ForeignDialect, Point, Question } from '../../../src/dialects/foreign-dialect.ts';
import type { Transport } from '../../../src/process/transport.ts';

/** The answer of a hook's process, a fault, or a function of the question. */
export type Does =
  | Answer
  | RuntimeError
  | ((signal: AbortSignal | undefined) => Promise<Answer | RuntimeError>);

export const point: Point = { order: 'serial', isFilter: true, composition: { verdict: 'first' } };

export function hookCall(more: Partial<HookCall> = {}): HookCall {
  const hookContext = createHookContext('s1');
  return {
    ...{ point: 'P', payload: { n: 0 }, hookContext, call: 'c1', kind: 'tool', phase: 'before_execution' },
    ...more,
  };
}

/** A dialect, its hooks without processes, and a log of lines: `a asked {"n":0}`, `a told …`, `wrote …`. */
export function openPlayedGroup(points: Readonly<Record<string, Point>>, more: Partial<ForeignDialect> = {}) {
  const said: string[] = [];
  const events: RuntimeEvent[] = [];
  const { conclude: _conclude, report: _report, ...base } = claude;
  const dialect: ForeignDialect = {
    ...base,
    ...{ name: 'played', points, pointsAt: () => Object.keys(points), describe: () => ({ n: 0 }) },
    ...{
      complete: (_, payload) => payload,
      selects: () => true,
      isBackground: () => false,
      readsTranscript: false,
    },
    encode: (_, { payload }) => ({ method: 'hook', body: JSON.stringify(payload) }),
    decode: ({ name }, _question, reply) => {
      if (reply instanceof RuntimeError)
        return {
          output: answers.deny(reply.message, { metadata: Json.from({ fault: reply.code }) }),
          notes: [],
        };
      const answer = given.get(name);
      if (answer === undefined) throw new Error(`${name} gave secret nonsense`);
      return { output: answer, notes: [] };
    },
    nextPayload: ({ payload }: Question, { verdict }) => ({ ...payload, [verdict]: true }),
    toNeutralAnswer: (_event: HookEvent, _question, answer) => answer,
    ...more,
  };
  const given = new Map<string, Answer>();
  const context: GroupContext = {
    emit: (event) => void events.push(event),
    prepare: (hookContext) => ({ ...hookContext, transcript: 'written' }),
    writeLongText: (text) => `file of ${text.length}`,
  };
  const transportOf = (name: string, does: Does | undefined): Transport => ({
    exchange: async ({ body }, signal) => {
      said.push(`${name} asked ${body}`);
      const answer = typeof does === 'function' ? await does(signal) : does;
      if (answer instanceof RuntimeError) throw answer;
      if (answer !== undefined) given.set(name, answer);
      return { via: 'rpc', result: new Json('{}') };
    },
    warm: () => {},
    close: async () => {},
  });
  return {
    ...{ said, events, dialect, context },
    /** undefined: the process prints an invalid answer. */
    member(name: string, does: Does | undefined, over: Partial<Member> = {}): Member {
      const entry = { name, onFailure: 'own', cwd: '/', settings: {} } as const;
      const transport = transportOf(name, does);
      return { entry, timeoutMs: 1_000, transport, backgroundTransport: transport, ...over };
    },
    decisions: () => events.flatMap((event) => (event.type === 'decision' ? [event] : [])),
  };
}

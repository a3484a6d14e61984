import { Json } from '../../../src/base/json/json.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import type { ForeignLink, NativeLink } from '../../../src/calls/hooks/links.ts';
import type { Answer, HookEvent, HookKind, NativeEvent, Phase } from '../../../src/contract/hook.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import type { Point } from '../../../src/dialects/foreign-dialect.ts';
import { openBench } from '../capability/bench.ts';

export const beforeExecution: NativeEvent = readEvent({
  hook: 'tool',
  phase: 'before_execution',
  request: { name: 'w', args: new Json('{"city":"NYC"}'), call_id: 'call_1' },
});

interface Place {
  readonly kind?: HookKind;
  readonly phases?: readonly Phase[];
  /** false: declares that it never replaces anything. */
  readonly modifies?: boolean;
}

const place = { kind: 'tool', phases: ['before_execution', 'after_execution'] } as const;

/** Filters, followers and groups without processes, and the events that they received. */
export function openPlayed() {
  const heard: string[] = [];
  const events: HookEvent[] = [];
  const bench = openBench();
  const hear = (what: string, event: HookEvent) => {
    heard.push(what);
    events.push(event);
  };
  return {
    heard,
    events,
    /** `answer` may wait for something, including the end of the question. */
    filter(
      name: string,
      answer: Answer | ((signal: AbortSignal | undefined) => Promise<Answer>),
      more: Place = {},
    ): NativeLink {
      const { modifies, ...at } = more;
      const port = bench.filter({ runs: ['answers'], name });
      let given: Answer | undefined;
      let asked: NativeEvent | undefined;
      const exchange = async (_: unknown, signal?: AbortSignal) => {
        if (asked !== undefined) hear(name, asked);
        given = typeof answer === 'function' ? await answer(signal) : answer;
        return { via: 'rpc', result: new Json('{}') } as const;
      };
      const encode = (event: NativeEvent) => {
        asked = event;
        return { method: 'hook', body: '' };
      };
      const decode = () => {
        if (given === undefined) throw new Error('nothing was asked');
        return { output: given, notes: [] };
      };
      const played = { ...port, transport: { ...port.transport, exchange }, codec: { encode, decode } };
      return {
        ...{ name, dialect: 'promptkit', ...place, ...at },
        listener: { mode: 'filter', port: { ...played, modifies } },
      };
    },
    follower(name: string, more: Place = {}): NativeLink {
      const enqueue = (event: NativeEvent, call: string) => hear(`${name} of ${call}`, event);
      const follower = { enqueue, close: async () => {} };
      return {
        ...{ name, dialect: 'promptkit', ...place },
        ...more,
        listener: { mode: 'observe', follower },
      };
    },
    group(hook: string, answer: Answer, points: Readonly<Record<string, Point>>): ForeignLink {
      const dialect = {
        ...claude,
        points,
        describe: () => ({}),
        pointsAt: () => Object.keys(points),
        toNeutralAnswer: (_event: HookEvent, _question: unknown, given: Answer) => given,
      };
      return {
        group: {
          dialect,
          members: [],
          pointsAt: dialect.pointsAt,
          ask: async ({ point }) => {
            heard.push(`${hook} at ${point}`);
            return { hook, answer };
          },
          notify: async ({ point, call }) => void heard.push(`${hook} told at ${point} of ${call}`),
          takeLateContext: () => [],
          warn: () => {},
          restrict: () => {
            throw new Error('nobody does');
          },
          close: async () => {},
        },
      };
    },
  };
}

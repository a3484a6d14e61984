import { Json } from '../../../src/base/json/json.ts';
import { fitsAnything } from '../../../src/base/yaml/schema-check.ts';
import type { HookCall } from '../../../src/calls/hooks/group.ts';
import type { ForeignLink, NativeLink } from '../../../src/calls/hooks/links.ts';
import type { CallableTool } from '../../../src/calls/tool-call/callable-tool.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import {
  type Answer,
  answers,
  type EventPhase,
  type HookEvent,
  type Phase,
} from '../../../src/contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../../../src/contract/tool.ts';
import type { HookContext } from '../../../src/contract/turn.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import type { ForeignDialect, Point } from '../../../src/dialects/foreign-dialect.ts';
import { openBench } from '../capability/bench.ts';
import { openPlayed } from '../hooks/played.ts';

/** The answers of a dialect's hooks at a phase. null: no hook is responsible; 'told': the hooks only observe. */
type Played = Answer | ((event: HookEvent) => Answer | null) | 'told';

interface Heard {
  readonly event: HookEvent;
  readonly call: string;
  readonly context: HookContext;
  readonly signal: AbortSignal | undefined;
}

/** Tools and hooks without processes, and a log of their events: `guard before_execution`, `w runs`. */
export function openCalls() {
  const played = openPlayed();
  const { heard } = played;
  const bench = openBench();
  const asked: Heard[] = [];
  const ran: { readonly call: ToolCall; readonly signal: AbortSignal | undefined }[] = [];
  const events: readonly RuntimeEvent[] = bench.events;
  return {
    ...{ heard, asked, ran, events },
    /** Default phases: before and after the call. */
    filter: (name: string, answer: Answer, place: { readonly phases?: readonly Phase[] } = {}): NativeLink =>
      played.filter(name, answer, place),
    /** The last event at a phase. */
    at: (phase: EventPhase): Heard | undefined => asked.findLast(({ event }) => event.phase === phase),
    hooks(
      name: string,
      plan: Partial<Record<EventPhase, Played>>,
      more: Partial<ForeignDialect> = {},
    ): ForeignLink {
      const points = Object.fromEntries(Object.entries(plan).map(([phase, does]) => [phase, pointOf(does)]));
      let now: Pick<Heard, 'event' | 'context'> | undefined;
      const dialect: ForeignDialect = {
        ...claude,
        ...{ name, points },
        pointsAt: ({ phase }) => (phase in points ? [phase] : []),
        describe: (_, event, context) => {
          now = { event, context };
          return {};
        },
        toNeutralAnswer: (_event, _question, given) => given,
        ...more,
      };
      const hear = ({ call, signal }: HookCall): HookEvent => {
        if (now === undefined) throw new Error('nothing was described');
        heard.push(`${name} ${now.event.phase}`);
        asked.push({ ...now, call, signal });
        return now.event;
      };
      return {
        group: {
          ...{ dialect, members: [], pointsAt: dialect.pointsAt },
          ask: async (call) => {
            const event = hear(call);
            const does = plan[event.phase];
            const answer = typeof does === 'function' ? does(event) : does;
            if (answer === null || answer === undefined || answer === 'told')
              return { hook: null, answer: answers.allow() };
            return { hook: name, answer };
          },
          notify: async (call) => void hear(call),
          takeLateContext: () => [],
          warn: () => {},
          restrict: () => {
            throw new Error('nobody does');
          },
          close: async () => {},
        },
      };
    },
    tool(
      name: string,
      outcome: ToolOutcome | ((call: ToolCall) => ToolOutcome),
      more: Partial<CallableTool> = {},
    ): CallableTool {
      const port = bench.tool({ runs: ['answers'], name });
      let given: ToolCall | undefined;
      const encode = (call: ToolCall) => {
        given = call;
        return { method: 'execute', body: '' };
      };
      const exchange = async (_: unknown, signal?: AbortSignal) => {
        heard.push(`${name} runs`);
        if (given !== undefined) ran.push({ call: given, signal });
        return { via: 'rpc', result: new Json('{}') } as const;
      };
      const decode = (_: unknown, call: ToolCall) => ({
        output: typeof outcome === 'function' ? outcome(call) : outcome,
        notes: [],
      });
      return {
        ...{ name, checkArgs: fitsAnything, checkResult: fitsAnything, links: [] },
        port: { ...port, transport: { ...port.transport, exchange }, codec: { encode, decode } },
        ...more,
      };
    },
  };
}

function pointOf(does: Played): Point {
  return { order: 'serial', isFilter: does !== 'told', composition: { verdict: 'first' } };
}

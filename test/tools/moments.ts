import type { EventPhase, HookEvent } from '../../src/contract/hook.ts';
import type { FinishedCall, Turn } from '../../src/contract/turn.ts';
import type { ForeignDialect } from '../../src/dialects/foreign-dialect.ts';
import { foreignDialects } from '../../src/dialects/registry.ts';

/** A moment of a turn, with all its kinds of events. */
export interface MomentSample {
  readonly name: string;
  /** The native hook for it; '' if there is none. */
  readonly native: string;
  readonly events: readonly HookEvent[];
}

const turn: Turn = {
  prompt: 'hi',
  system_prompt: '',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [],
  provider_id: 'main',
  model: 'm',
  options: {},
};
const fault = { code: 'PROVIDER_FAILED', message: 'no', hint: '' } as const;
const request = (category?: string, args: unknown = { path: '/x', command: 'x', url: 'http://127.0.0.1' }) =>
  ({ name: 't', args, call_id: 'c', category }) as const;
const response = (error: string) =>
  ({ name: 't', call_id: 'c', content: 'x', error, latency_ms: 1 }) as const;
const model = { provider_id: 'main', model: 'm', messages: [], system_prompt: '', round: 1, metadata: {} };
const answer = {
  provider_id: 'main',
  model: 'm',
  message: { role: 'assistant', content: 'x' },
  round: 1,
  latency_ms: 1,
} as const;
const over = {
  hook: 'tool',
  request: request(),
  asked: {},
  response: response(''),
  status: 'ok',
  isFlow: false,
} as const;
const session = { session_id: 's', conversation_id: 's', messages: [], turn_index: 0, metadata: {} };
const call: FinishedCall = { name: 't', call_id: 'c', args: {}, content: 'x' };
const categories = ['fs_read', 'fs_write', 'shell', 'network'];

const turnStart = (phase: 'prompt' | 'system_prompt' | 'tool_list' | 'request' | 'loop'): MomentSample => ({
  name: phase,
  native: '',
  events: [{ hook: 'turn', phase, turn }],
});

/** Every moment, in order of time. */
export const moments: readonly MomentSample[] = [
  {
    name: 'session_start',
    native: 'session',
    events: [{ hook: 'session', phase: 'session_start', event: session }],
  },
  { name: 'turn_start', native: '', events: [{ hook: 'turn', phase: 'turn_start', turn }] },
  ...(['prompt', 'system_prompt', 'tool_list', 'request', 'loop'] as const).map(turnStart),
  {
    name: 'before_call',
    native: 'provider',
    events: [{ hook: 'provider', phase: 'before_call', request: model }],
  },
  { name: 'model_asked', native: '', events: [{ hook: 'turn', phase: 'model_asked', turn }] },
  {
    name: 'model_retried',
    native: '',
    events: [
      { hook: 'turn', phase: 'model_retried', turn, retry: 1, max_retries: 2, error: fault, backoff_ms: 1 },
    ],
  },
  {
    name: 'after_call',
    native: 'provider',
    events: [{ hook: 'provider', phase: 'after_call', request: model, response: answer }],
  },
  {
    name: 'model_answered',
    native: '',
    events: [{ hook: 'turn', phase: 'model_answered', turn, message: answer.message }],
  },
  { name: 'error', native: '', events: [{ hook: 'turn', phase: 'error', turn, stage: 'llm', error: fault }] },
  {
    name: 'before_execution',
    native: 'tool',
    events: [{ hook: 'tool', phase: 'before_execution', request: request() }],
  },
  {
    name: 'approval, when a hook has asked',
    native: '',
    events: [
      { hook: 'tool', phase: 'approval', request: request('shell'), asked: { hook: 'h', reason: 'r' } },
    ],
  },
  {
    name: 'approval',
    native: '',
    events: categories.map((category) => ({
      hook: 'tool',
      phase: 'approval',
      request: request(category),
      asked: null,
    })),
  },
  {
    name: 'pending',
    native: '',
    events: [{ hook: 'tool', phase: 'pending', request: request(), id: 'p', message: 'm' }],
  },
  {
    name: 'blocked',
    native: '',
    events: [{ hook: 'tool', phase: 'blocked', request: request(), response: response('no'), reason: 'r' }],
  },
  { name: 'started', native: '', events: [{ hook: 'tool', phase: 'started', request: request() }] },
  {
    name: 'after_execution',
    native: 'tool',
    events: ['', 'no'].map((error) => ({
      hook: 'tool',
      phase: 'after_execution',
      request: request(),
      response: response(error),
    })),
  },
  {
    name: 'finished',
    native: '',
    events: [{ ...over, phase: 'finished' }],
  },
  {
    name: 'returned',
    native: '',
    events: [{ ...over, phase: 'returned' }],
  },
  { name: 'batch', native: '', events: [{ hook: 'turn', phase: 'batch', turn, calls: [call] }] },
  {
    name: 'stop',
    native: '',
    events: [{ hook: 'turn', phase: 'stop', turn, response: 'x', end: 'final_response' }],
  },
  {
    name: 'stop, at the round limit',
    native: '',
    events: [{ hook: 'turn', phase: 'stop', turn, response: 'x', end: 'max_iterations' }],
  },
  {
    name: 'answered',
    native: '',
    events: [{ hook: 'turn', phase: 'answered', turn, response: 'x', original_prompt: 'hi' }],
  },
  {
    name: 'session_update',
    native: 'session',
    events: [{ hook: 'session', phase: 'session_update', event: session }],
  },
  {
    name: 'turn_end',
    native: '',
    events: [
      {
        hook: 'turn',
        phase: 'turn_end',
        turn,
        response: 'x',
        status: 'completed',
        isHandedBack: false,
        original_prompt: 'hi',
        duration_ms: 1,
      },
    ],
  },
  {
    name: 'session_end',
    native: 'session',
    events: [{ hook: 'session', phase: 'session_end', event: session }],
  },
];

/** A moment that is missing here fails to compile. */
export const everyMoment = Object.keys({
  session_start: true,
  turn_start: true,
  prompt: true,
  system_prompt: true,
  tool_list: true,
  request: true,
  loop: true,
  before_call: true,
  model_asked: true,
  model_retried: true,
  after_call: true,
  model_answered: true,
  error: true,
  before_execution: true,
  approval: true,
  pending: true,
  blocked: true,
  started: true,
  after_execution: true,
  finished: true,
  returned: true,
  batch: true,
  stop: true,
  answered: true,
  session_update: true,
  turn_end: true,
  session_end: true,
} satisfies Readonly<Record<Exclude<EventPhase, 'scored'>, true>>);

export const dialects: readonly ForeignDialect[] = await Promise.all(
  Object.values(foreignDialects).map(async (dialect) => await dialect.loadHooks()),
);

/** The table of moments in docs/reference/dialects.md. Points that only observe are in italics. */
export function renderMoments(): string {
  const rows = moments.map(({ name, native, events }) => [
    name,
    native,
    ...dialects.map((dialect) => pointsOf(dialect, events).join(', ')),
  ]);
  const heads = ['moment', 'native', ...dialects.map(({ name }) => name)];
  return [heads, heads.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => (cell === '' ? '–' : cell)).join(' | ')} |`)
    .join('\n');
}

function pointsOf(dialect: ForeignDialect, events: readonly HookEvent[]): string[] {
  const names = new Set(events.flatMap((event) => dialect.pointsAt(event)));
  return [...names].map((name) => (dialect.points[name]?.isFilter === true ? name : `*${name}*`));
}

/** The points that no event of a pipeline reaches. */
export function hostPoints(dialect: ForeignDialect): string[] {
  const fired = new Set(moments.flatMap(({ events }) => events.flatMap((event) => dialect.pointsAt(event))));
  return Object.keys(dialect.points).filter((point) => !fired.has(point));
}

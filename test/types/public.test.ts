import { expect, expectTypeOf, test } from 'vitest';
import {
  type Approval,
  type CallOptions,
  type catalogue,
  type DecisionDocument,
  type ErrorCode,
  type EvalDocument,
  type EvalOptions,
  type Fault,
  type HookInfo,
  Json,
  openRuntime,
  type Pause,
  type PointEvent,
  type RunDocument,
  type RunEvent,
  type Runtime,
  RuntimeError,
  type RuntimeEvent,
  type RuntimeOptions,
  type StartedRun,
  type SuiteReport,
  type ToolDocument,
  type ToolInfo,
} from '../../src/index.ts';

/** Compiles only if a switch covers every case. */
function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

const fault: Fault = { code: 'TOOL_ERROR', message: 'city not found', hint: '' };

function describeTool(document: ToolDocument): string {
  switch (document.status) {
    case 'ok':
      expectTypeOf(document.result).toBeUnknown();
      expectTypeOf(document.metadata).toEqualTypeOf<Readonly<Record<string, unknown>> | undefined>();
      return `ok ${JSON.stringify(document.result)}`;
    case 'failed':
      expectTypeOf(document.error).toEqualTypeOf<Fault>();
      return `failed ${document.error.code}`;
    case 'denied':
      expectTypeOf(document.hook).toBeString();
      expectTypeOf(document.error).toEqualTypeOf<Fault | undefined>();
      return `denied ${document.hook}`;
    case 'pending':
      expectTypeOf(document.pending.id).toBeString();
      expectTypeOf(document.pending.run_id).toBeString();
      // @ts-expect-error A pending call has no result yet.
      expect(document.result).toBeUndefined();
      return `pending ${document.pending.reason}`;
    default:
      return unreachable(document);
  }
}

test('a tool document is distinguished by its status, and there is no fifth', () => {
  const documents: ToolDocument[] = [
    { status: 'ok', result: [1] },
    { status: 'failed', error: fault },
    { status: 'denied', hook: 'guard', reason: '', metadata: {} },
    { status: 'pending', pending: { id: 'p', run_id: 'r', reason: 'sum', message: '' } },
  ];
  expect(documents.map(describeTool)).toEqual(['ok [1]', 'failed TOOL_ERROR', 'denied guard', 'pending sum']);
  expectTypeOf<ToolDocument['status']>().toEqualTypeOf<'ok' | 'failed' | 'denied' | 'pending'>();
});

test('an eval document has a score only when it is scored', () => {
  const show = (document: EvalDocument) => {
    if (document.status === 'unscored') {
      expectTypeOf(document.passed).toEqualTypeOf<false>();
      // @ts-expect-error What could not be scored has no score.
      return `${document.reason} ${document.score}`;
    }
    expectTypeOf(document.score).toBeNumber();
    expectTypeOf(document.data).toEqualTypeOf<Readonly<Record<string, unknown>> | null>();
    return `${document.score}`;
  };
  expect(show({ status: 'scored', score: 0.5, passed: false, detail: '', data: null })).toBe('0.5');
  expect(show({ status: 'unscored', reason: 'why', passed: false })).toBe('why undefined');
});

test('a decision has one of six verdicts', () => {
  const exit = ({ verdict }: DecisionDocument) => {
    switch (verdict) {
      case 'allow':
      case 'modify':
      case 'respond':
        return 0;
      case 'deny':
      case 'abort':
        return 1;
      case 'ask':
        return 3;
      default:
        return unreachable(verdict);
    }
  };
  const decision: DecisionDocument = {
    verdict: 'deny',
    hook: 'guard',
    dialect: 'promptkit',
    reason: '',
    enforced: false,
    replace: null,
    result: null,
    context: [],
    abort: null,
    metadata: {},
  };
  expect([exit(decision), exit({ ...decision, verdict: 'allow' })]).toEqual([1, 0]);
  expect(exit({ ...decision, verdict: 'ask' })).toBe(3);
  expectTypeOf(decision.context).toEqualTypeOf<readonly string[]>();
  expectTypeOf(decision.abort).toEqualTypeOf<'turn' | 'session' | null>();
});

function describeEvent(event: RuntimeEvent): string {
  switch (event.type) {
    case 'call.started':
    case 'call.finished':
      expectTypeOf(event.capability).toEqualTypeOf<'tool' | 'eval' | 'hook'>();
      return `${event.type} ${event.call}`;
    case 'operation.started':
    case 'operation.finished':
      expectTypeOf(event.operation).toEqualTypeOf<
        'tool' | 'model' | 'eval' | 'gateway' | 'case' | 'pipeline'
      >();
      return `${event.type} ${event.operation} ${event.name}`;
    case 'decision':
      expectTypeOf(event.metadata).toEqualTypeOf<Json>();
      expectTypeOf(event.mode).toEqualTypeOf<'filter' | 'observe' | 'shadow'>();
      return `${event.type} ${event.verdict}`;
    case 'process.started':
    case 'process.restarted':
    case 'process.ended':
      expectTypeOf(event.pid).toBeNumber();
      return `${event.type} ${event.pid}`;
    case 'circuit.opened':
      return `${event.type} ${event.pauseMs}`;
    case 'dropped':
      return `${event.type} ${event.what}`;
    case 'stderr':
      return `${event.type} ${event.line}`;
    case 'note':
      expectTypeOf(event.level).toEqualTypeOf<'debug' | 'info' | 'warn'>();
      return `${event.type} ${event.message}`;
    case 'pending.opened':
      expectTypeOf(event.message).toBeString();
      return `${event.type} ${event.id}`;
    case 'pending.decided':
      return `${event.type} ${event.ruling}`;
    case 'step.started':
    case 'step.finished':
      expectTypeOf(event.step).toBeString();
      return `${event.type} ${event.kind}`;
    case 'step.waiting':
      return `${event.type} ${event.until}`;
    case 'text':
      return `${event.type} ${event.text}`;
    case 'run.started':
      expectTypeOf(event.isResumed).toBeBoolean();
      return `${event.type} ${event.run}`;
    case 'run.finished':
      return `${event.type} ${event.status}`;
    case 'plugin_hook_fired':
      expectTypeOf(event.data).toEqualTypeOf<Readonly<Record<string, unknown>>>();
      return `${event.type} ${event.hook_name}`;
    default:
      return unreachable(event);
  }
}

test('hooks are fired at a phase, or at a point of another system, and listed alike', () => {
  const event: PointEvent = { dialect: 'claude', point: 'PreToolUse', payload: { tool_name: 'Bash' } };
  expectTypeOf<Runtime['hooks']['fire']>().toBeCallableWith(event);
  expectTypeOf<Runtime['hooks']['fire']>().toBeCallableWith({ hook: 'eval', event: {} });
  // @ts-expect-error A point is one of a dialect.
  expectTypeOf<Runtime['hooks']['fire']>().toBeCallableWith({ point: 'PreToolUse', payload: {} });
  expectTypeOf<HookInfo['hook']>().toEqualTypeOf<string | null>();
  expectTypeOf<HookInfo['points']>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<HookInfo['on_failure']>().toEqualTypeOf<'deny' | 'own'>();
  expect(event.point).toBe('PreToolUse');
});

test('an event is distinguished by its type, and there is no other', () => {
  const events: RuntimeEvent[] = [
    { type: 'stderr', name: 'x', pid: 1, line: 'hello' },
    { type: 'process.ended', name: 'x', pid: 1, exitCode: null, signal: 'SIGKILL' },
    { type: 'dropped', name: 'x', what: 'noise', detail: '' },
    { type: 'pending.decided', id: 'p', run: 'r', step: 's', tool: 't', ruling: 'expired' },
    { type: 'run.finished', run: 'r', name: 'x', status: 'cancelled' },
    { type: 'plugin_hook_fired', hook_name: 'Stop', data: {} },
  ];
  expect(events.map(describeEvent)).toEqual([
    'stderr hello',
    'process.ended 1',
    'dropped noise',
    'pending.decided expired',
    'run.finished cancelled',
    'plugin_hook_fired Stop',
  ]);
});

test('an error code is one of the catalogue, and a fault is plain data', () => {
  expectTypeOf<ErrorCode>().toEqualTypeOf<keyof typeof catalogue>();
  expectTypeOf<Fault['code']>().toEqualTypeOf<ErrorCode>();
  expectTypeOf<RuntimeError['code']>().toEqualTypeOf<ErrorCode>();
  // @ts-expect-error There is no such code.
  const error = new RuntimeError('NO_SUCH_CODE', 'x', { hint: 'y' });
  expect(error).toMatchObject({ name: 'RuntimeError', code: 'NO_SUCH_CODE', hint: 'y' });
});

test('a runtime is opened from a path or a URL, and disposes of itself', () => {
  expectTypeOf(openRuntime).parameter(0).toEqualTypeOf<string | URL>();
  expectTypeOf(openRuntime).parameter(1).toEqualTypeOf<RuntimeOptions | undefined>();
  expectTypeOf(openRuntime).returns.resolves.toEqualTypeOf<Runtime>();
  expectTypeOf<Runtime>().toExtend<AsyncDisposable>();
  expectTypeOf<Runtime['close']>().returns.toEqualTypeOf<Promise<void>>();
  expect(openRuntime).toBeTypeOf('function');
});

test('calls have the documented parameters and results', () => {
  expectTypeOf<Runtime['tools']['call']>().parameter(0).toBeString();
  expectTypeOf<Runtime['tools']['call']>().parameter(1).toBeUnknown();
  expectTypeOf<Runtime['tools']['call']>().parameter(2).toEqualTypeOf<CallOptions | undefined>();
  expectTypeOf<Runtime['tools']['call']>().returns.resolves.toEqualTypeOf<ToolDocument>();
  expectTypeOf<Runtime['tools']['list']>().returns.toEqualTypeOf<ToolInfo[]>();
  expectTypeOf<Runtime['evals']['call']>().returns.resolves.toEqualTypeOf<EvalDocument>();
  expectTypeOf<Runtime['evals']['call']>().parameter(2).toEqualTypeOf<EvalOptions | undefined>();
  expectTypeOf<Runtime['evals']['run']>().returns.resolves.toEqualTypeOf<SuiteReport>();
  expectTypeOf<Runtime['hooks']['fire']>().returns.resolves.toEqualTypeOf<DecisionDocument>();
  expectTypeOf<Runtime['hooks']['list']>().returns.toEqualTypeOf<HookInfo[]>();
  expectTypeOf<NonNullable<CallOptions['approve']>>().toEqualTypeOf<
    (pause: Pause) => Promise<Approval | undefined>
  >();
  expect(new Json('1').value).toBe(1);
});

test('an option may be given as undefined, and a wrong one is refused', () => {
  const options = {
    log: undefined,
    logLevel: undefined,
    onEvent: undefined,
    env: undefined,
    signal: undefined,
  };
  expectTypeOf(options).toExtend<RuntimeOptions>();
  expectTypeOf({ signal: undefined, callId: undefined, approve: undefined }).toExtend<CallOptions>();
  expectTypeOf({ signal: undefined, threshold: undefined, id: undefined }).toExtend<EvalOptions>();
  expectTypeOf({ logLevel: 'loud' as const }).not.toExtend<RuntimeOptions>();
  expectTypeOf({ threshold: { min_score: '0.8' } }).not.toExtend<EvalOptions>();
  const fire = (runtime: Runtime) => [
    // @ts-expect-error There is no such hook.
    runtime.hooks.fire({ hook: 'nobody', phase: 'before_call' }),
    // @ts-expect-error Which of its phases?
    runtime.hooks.fire({ hook: 'provider', request: {} }),
    runtime.hooks.fire({ hook: 'eval', event: {} }),
  ];
  expect(fire).toBeTypeOf('function');
});

test('a started run is a promise of its document, has an id to come, and gives its events', () => {
  expectTypeOf<Runtime['run']>().returns.toEqualTypeOf<StartedRun>();
  expectTypeOf<StartedRun>().toExtend<Promise<RunDocument>>();
  expectTypeOf<StartedRun['id']>().toEqualTypeOf<Promise<string>>();
  const read = async (run: StartedRun) => {
    for await (const event of run) {
      expectTypeOf(event).toEqualTypeOf<RunEvent>();
      if (event.type === 'text') expectTypeOf(event.text).toEqualTypeOf<string>();
    }
  };
  expect(read).toBeTypeOf('function');
});

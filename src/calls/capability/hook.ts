import { type Fault, RuntimeError } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { type Stopwatch, startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import type { DecisionMade, HookSpan } from '../../contract/event.ts';
import {
  type Allow,
  type Answer,
  type Deny,
  deny,
  type HookMode,
  type Modify,
  type NativeEvent,
} from '../../contract/hook.ts';
import { currentOperation, inTrace } from '../../contract/operation.ts';
import { type Invocation, invokeOr, isCancelledAnswer, type Port } from './invoke.ts';

export interface FilterPort extends Port<NativeEvent, Answer> {
  readonly mode: Exclude<HookMode, 'observe'>;
  /** false: the hook declared that it never replaces a part of the event. A replacement denies. */
  readonly modifies?: boolean | undefined;
}

export interface HookQuestion extends Invocation<NativeEvent> {
  /** Whether `signal` was aborted because the answer no longer matters. A missing answer is then not a failure. */
  readonly isWithdrawn?: (() => boolean) | undefined;
}

type Accept = (answer: Allow | Modify) => void;

/**
 * Requests a verdict from a hook. Filters fail closed here: any error before `accept` returns is a denial that names
 * the hook. Never rejects.
 */
export function askHook(
  port: FilterPort,
  question: HookQuestion,
  accept: Accept = () => {},
): Promise<Answer> {
  const { emit, mode, binding } = port;
  const span = emit.startHook?.({
    ...{ hook: binding.name, kind: question.input.hook, phase: question.input.phase, mode },
  });
  if (span !== undefined) return inTrace(span.trace, () => askAndTell(port, question, { accept, span }));
  if (emit.hears?.('decision') === false)
    return ask(port, question, { accept, watch: emit.measures && startStopwatch() });
  return askAndTell(port, question, { accept });
}

async function askAndTell(
  port: FilterPort,
  question: HookQuestion,
  { accept, span }: { readonly accept: Accept; readonly span?: HookSpan },
): Promise<Answer> {
  const watch = startStopwatch();
  const answer = await ask(port, question, { accept, watch });
  const { hook: kind, phase } = question.input;
  const { name, dialect } = port.binding;
  if (isCancelledAnswer(answer) && question.isWithdrawn?.() === true) {
    const message = `its event ${phase} was cancelled, because an earlier hook has decided`;
    port.emit({ type: 'note', name, level: 'debug', message });
    span?.end();
    return answer;
  }
  const decision: DecisionMade = {
    type: 'decision',
    hook: name,
    call: question.call,
    dialect,
    kind,
    phase,
    mode: port.mode,
    verdict: answer.verdict,
    reason: answer.reason,
    metadata: answer.metadata,
    ...wholeMs(watch.read()),
    ...(answer.verdict === 'deny' && answer.error && { error: answer.error }),
    ...currentOperation(),
  };
  span?.end(decision);
  port.emit(decision);
  return answer;
}

function ask(
  port: FilterPort,
  question: HookQuestion,
  { accept, watch }: { readonly accept: Accept; readonly watch: Stopwatch | undefined },
): Promise<Answer> {
  return invokeOr(port, question, {
    onOutput: (answer) => measured(port, question, { answer: judge(port, answer, accept), watch }),
    onFault: (fault) => measured(port, question, { answer: denyForFault(port.binding.name, fault), watch }),
    clock: watch,
  });
}

function measured(
  { emit: { measures }, binding: { name: hook }, mode }: FilterPort,
  { input, isWithdrawn }: HookQuestion,
  { answer, watch }: { readonly answer: Answer; readonly watch: Stopwatch | undefined },
): Answer {
  if (measures === undefined || watch === undefined) return answer;
  if (isCancelledAnswer(answer) && isWithdrawn?.() === true) return answer;
  const { durationMs, queueMs } = watch.read();
  const { verdict } = answer;
  const error = answer.verdict === 'deny' ? answer.error : undefined;
  measures.hook(
    { hook, kind: input.hook, phase: input.phase, mode },
    { verdict, error, durationMs, queueMs },
  );
  return answer;
}

function judge({ binding: { name }, modifies }: FilterPort, answer: Answer, accept: Accept): Answer {
  if (answer.verdict === 'deny') return { ...answer, reason: answer.reason || `hook "${name}" denied` };
  if (answer.verdict === 'ask') return { ...answer, reason: answer.reason || `hook "${name}" asks` };
  if (answer.verdict !== 'allow' && answer.verdict !== 'modify') {
    throw new RuntimeError('REPLY_MALFORMED', `its verdict "${answer.verdict}" is not allowed here`);
  }
  if (answer.verdict === 'modify' && modifies === false) throw undeclaredChange();
  accept(answer);
  return answer;
}

/** Later hooks may already have judged the unchanged event. */
function undeclaredChange(): RuntimeError {
  return new RuntimeError(
    'REPLY_MALFORMED',
    'its reply has a `replace`, but its entry has `modifies: false`',
    {
      hint: 'Remove `modifies: false` from its entry, or `replace` from its reply.',
    },
  );
}

function denyForFault(name: string, error: Fault): Deny {
  const what = error.code === 'REPLY_MALFORMED' ? 'gave no verdict' : 'failed';
  return { ...deny(`hook "${name}" ${what}: ${error.message}`, false, new Json('{}')), error };
}

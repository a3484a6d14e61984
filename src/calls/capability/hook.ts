import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { type Stopwatch, startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import type { HookSpan } from '../../contract/event.ts';
import {
  type Allow,
  type Answer,
  type Deny,
  deny,
  type HookMode,
  type Modify,
  type NativeEvent,
} from '../../contract/hook.ts';
import { currentOperation } from '../../contract/operation.ts';
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
  const isHeard = emit.hears?.('decision') !== false;
  const watch = isHeard || span !== undefined || emit.measures ? startStopwatch() : undefined;
  return isHeard && watch !== undefined
    ? askAndTell(port, question, { accept, watch, span })
    : ask(port, question, { accept, watch, span });
}

interface Asking {
  readonly accept: Accept;
  readonly watch: Stopwatch | undefined;
  readonly span: HookSpan | undefined;
}

async function askAndTell(
  port: FilterPort,
  question: HookQuestion,
  asking: Asking & { readonly watch: Stopwatch },
): Promise<Answer> {
  const answer = await ask(port, question, asking);
  const { hook: kind, phase } = question.input;
  const { name, dialect } = port.binding;
  if (isCancelledAnswer(answer) && question.isWithdrawn?.() === true) {
    const message = `its event ${phase} was cancelled, because an earlier hook has decided`;
    port.emit({ type: 'note', name, level: 'debug', message });
    return answer;
  }
  port.emit({
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
    ...wholeMs(asking.watch.read()),
    ...(answer.verdict === 'deny' && answer.error && { error: answer.error }),
    ...currentOperation(),
  });
  return answer;
}

function ask(port: FilterPort, question: HookQuestion, asking: Asking): Promise<Answer> {
  const end = (answer: Answer) => measured(port, question, { ...asking, answer });
  const fail = (fault: Fault) => end(denyForFault(port.binding.name, fault));
  return invokeOr(port, question, {
    onOutput: (answer) => {
      try {
        return end(judge(port, answer, asking.accept));
      } catch (error) {
        return fail(toFault(error));
      }
    },
    onFault: fail,
    clock: asking.watch,
    trace: asking.span?.trace,
  });
}

function measured(
  { emit: { measures }, binding: { name: hook }, mode }: FilterPort,
  { input, isWithdrawn }: HookQuestion,
  { answer, watch, span }: Asking & { readonly answer: Answer },
): Answer {
  if (watch === undefined) return answer;
  if (isCancelledAnswer(answer) && isWithdrawn?.() === true) {
    span?.end();
    return answer;
  }
  const { durationMs, queueMs } = watch.read();
  const { verdict } = answer;
  const error = answer.verdict === 'deny' ? answer.error : undefined;
  const outcome = { verdict, error, durationMs, queueMs };
  span?.end(outcome);
  measures?.hook({ hook, kind: input.hook, phase: input.phase, mode }, outcome);
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

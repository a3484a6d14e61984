import { AsyncResource } from 'node:async_hooks';
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
import {
  type Continuation,
  type Invocation,
  invokeThen,
  isCancelledAnswer,
  type Next,
  type Port,
} from './invoke.ts';

export interface FilterPort extends Port<NativeEvent, Answer> {
  readonly mode: Exclude<HookMode, 'observe'>;
  /** false: the hook declared that it never replaces a part of the event. A replacement denies. */
  readonly modifies?: boolean | undefined;
}

export interface HookQuestion extends Invocation<NativeEvent> {
  /** Whether `signal` was aborted because the answer no longer matters. A missing answer is then not a failure. */
  readonly isWithdrawn?: (() => boolean) | undefined;
  /** Takes an affirmative answer before it counts. What it throws denies. */
  readonly accept?: Accept | undefined;
}

type Accept = (answer: Allow | Modify) => void;

/**
 * Requests a verdict from a hook. Filters fail closed here: any error until the answer is accepted is a denial that
 * names the hook. Never rejects.
 */
export function askHook(port: FilterPort, question: HookQuestion): Promise<Answer> {
  return new Promise((next, fail) => askHookThen(port, question, { next, fail }));
}

/** Like `askHook`, but continues with the answer in the async context of this call. No promise stands in between. */
export function askHookThen(port: FilterPort, question: HookQuestion, next: Next<Answer>): void {
  const { emit, mode, binding } = port;
  const { input } = question;
  const span = emit.startHook?.({ hook: binding.name, kind: input.hook, phase: input.phase, mode });
  const asking = new AskedHook(port, question, next);
  asking.span = span;
  asking.isHeard = emit.hears?.('decision') !== false;
  if (asking.isHeard || span !== undefined || emit.measures) asking.watch = startStopwatch();
  invokeThen(port, question, asking, { clock: asking.watch, trace: span?.trace });
}

class AskedHook extends AsyncResource implements Continuation<Answer> {
  watch: Stopwatch | undefined;
  span: HookSpan | undefined;
  isHeard = false;
  readonly #port: FilterPort;
  readonly #question: HookQuestion;
  readonly #next: Next<Answer>;

  constructor(port: FilterPort, question: HookQuestion, next: Next<Answer>) {
    super('HOOK');
    this.#port = port;
    this.#question = question;
    this.#next = next;
  }

  onOutput(answer: Answer): void {
    this.runInAsyncScope(this.#judge, this, answer);
  }

  onFault(fault: Fault): void {
    this.runInAsyncScope(this.#end, this, denyForFault(this.#port.binding.name, fault));
  }

  fail(thrown: unknown): void {
    this.#next.fail(thrown);
  }

  #judge(answer: Answer): void {
    let judged: Answer;
    try {
      judged = judge(this.#port, answer, this.#question.accept);
    } catch (error) {
      judged = denyForFault(this.#port.binding.name, toFault(error));
    }
    this.#end(judged);
  }

  #end(answer: Answer): void {
    if (this.watch !== undefined) this.#tell(answer, this.watch);
    this.#next.next(answer);
  }

  #tell(answer: Answer, watch: Stopwatch): void {
    const { emit, binding, mode } = this.#port;
    const { name: hook, dialect } = binding;
    const { input, call, isWithdrawn } = this.#question;
    const { hook: kind, phase } = input;
    if (isCancelledAnswer(answer) && isWithdrawn?.() === true) {
      this.span?.end();
      const message = `its event ${phase} was cancelled, because an earlier hook has decided`;
      if (this.isHeard) emit({ type: 'note', name: hook, level: 'debug', message });
      return;
    }
    const { verdict, reason, metadata } = answer;
    const error = answer.verdict === 'deny' ? answer.error : undefined;
    const took = watch.read();
    const outcome = { verdict, error, ...took };
    this.span?.end(outcome);
    emit.measures?.hook({ hook, kind, phase, mode }, outcome);
    if (!this.isHeard) return;
    emit({
      ...{ type: 'decision', hook, call, dialect, kind, phase, mode, verdict, reason, metadata },
      ...wholeMs(took),
      ...(error && { error }),
      ...currentOperation(),
    });
  }
}

function judge(
  { binding: { name }, modifies }: FilterPort,
  answer: Answer,
  accept: Accept | undefined,
): Answer {
  if (answer.verdict === 'deny') return { ...answer, reason: answer.reason || `hook "${name}" denied` };
  if (answer.verdict === 'ask') return { ...answer, reason: answer.reason || `hook "${name}" asks` };
  if (answer.verdict !== 'allow' && answer.verdict !== 'modify') {
    throw new RuntimeError('REPLY_MALFORMED', `its verdict "${answer.verdict}" is not allowed here`);
  }
  if (answer.verdict === 'modify' && modifies === false) throw undeclaredChange();
  accept?.(answer);
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

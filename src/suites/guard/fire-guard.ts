import PQueue from 'p-queue';
import { RuntimeError } from '../../base/errors.ts';
import { inQueue } from '../../base/time/stopwatch.ts';
import { readEvent } from '../../calls/hooks/event-input.ts';
import { type Link, passGate } from '../../calls/hooks/gate.ts';
import { handles } from '../../calls/hooks/links.ts';
import type { Decision, HookEvent } from '../../contract/hook.ts';
import { nextEventId } from '../../contract/tool.ts';
import type { GuardRecord } from '../record.ts';
import type { EvalHost, GuardDecision } from '../score/score.ts';
import { readConfidence } from './confidence.ts';

export interface GuardFireOptions {
  readonly links: readonly Link[];
  /** Returns what is wrong with an event that a filter has changed; undefined when it is valid. */
  readonly check: (event: HookEvent) => string | undefined;
  /**
   * Events in flight at most: with more, the time in the queue for processes would count as time of the
   * hooks.
   */
  readonly concurrency: number;
}

/**
 * Makes the function that fires labelled events through the filters of a runtime, or through one filter or
 * shadow alone; observers are not told. It throws EVENT_INVALID when the event does not fit its hook and
 * phase, NAME_UNKNOWN.
 */
export function openGuardFire({ links, check, concurrency }: GuardFireOptions): EvalHost['fire'] {
  const queue = new PQueue({ concurrency });
  return async (members, only, signal) => {
    const event = readGuardEvent(members);
    const selected = only === undefined ? links : selectHook(links, only, event);
    return await inQueue(
      () => fire(selected, event, { check, signal }),
      (work) => queue.add(work),
    );
  };
}

async function fire(
  links: readonly Link[],
  event: HookEvent,
  { check, signal }: Pick<GuardFireOptions, 'check'> & { readonly signal: AbortSignal },
): Promise<GuardDecision> {
  const hooks: GuardRecord['hooks'][number][] = [];
  const { decision } = await passGate(links, event, {
    call: nextEventId(),
    signal,
    check,
    filtersOnly: true,
    onAnswer: (name, verdict, { durationMs }) =>
      hooks.push({ name, verdict, duration_ms: Math.round(durationMs * 1000) / 1000 }),
  });
  return toGuardDecision(event, decision, hooks);
}

function readGuardEvent(members: Readonly<Record<string, unknown>>): HookEvent {
  const { hook, phase, request, response } = members;
  if (hook !== 'provider' && hook !== 'tool') {
    throw new RuntimeError('EVENT_INVALID', 'guard.hook must be provider or tool');
  }
  const defaultPhase = hook === 'provider' ? 'before_call' : 'before_execution';
  return readEvent({
    hook,
    phase: typeof phase === 'string' ? phase : defaultPhase,
    request: request ?? {},
    ...(response === undefined ? {} : { response }),
  });
}

/** The link of the hook `only`, as a filter, also of a shadow. Throws NAME_UNKNOWN, EVENT_INVALID. */
function selectHook(links: readonly Link[], only: string, event: HookEvent): Link[] {
  const link = links.filter((each) => 'name' in each).find(({ name }) => name === only);
  const { listener } = link ?? {};
  if (link === undefined || listener === undefined || listener.mode === 'observe') {
    throw new RuntimeError('NAME_UNKNOWN', `there is no filter or shadow "${only}"`);
  }
  if (!handles(link, event)) {
    throw new RuntimeError('EVENT_INVALID', `hook "${only}" has no part in ${event.hook} ${event.phase}`);
  }
  // As a filter in its port, too, so that the decision of a shadow is not recorded as one about traffic.
  return [{ ...link, listener: { mode: 'filter', port: { ...listener.port, mode: 'filter' } } }];
}

function toGuardDecision(event: HookEvent, decision: Decision, hooks: GuardRecord['hooks']): GuardDecision {
  const { verdict, hook, reason, metadata, error } = decision;
  return {
    hook: event.hook,
    phase: event.phase,
    verdict,
    decided_by: hook,
    flagged: verdict !== 'allow',
    confidence: readConfidence(metadata.value),
    hooks,
    reason,
    ...(error === undefined ? {} : { error }),
  };
}

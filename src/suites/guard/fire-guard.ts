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
  /** Returns why an event is invalid after a filter changed it; undefined if it is valid. */
  readonly check: (event: HookEvent) => string | undefined;
  /** The maximum number of events in flight. A higher number would count time in the process queue as hook time. */
  readonly concurrency: number;
}

/**
 * Returns a function that sends labelled events through all filters, or through one filter or shadow. Observers receive
 * nothing. The function throws EVENT_INVALID if the event does not fit its hook and phase, and NAME_UNKNOWN.
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

/** Returns the link of the hook `only` as a filter, even if it is a shadow. Throws NAME_UNKNOWN, EVENT_INVALID. */
function selectHook(links: readonly Link[], only: string, event: HookEvent): Link[] {
  const link = links.filter((each) => 'name' in each).find(({ name }) => name === only);
  const { listener } = link ?? {};
  if (link === undefined || listener === undefined || listener.mode === 'observe') {
    throw new RuntimeError('NAME_UNKNOWN', `there is no filter or shadow "${only}"`);
  }
  if (!handles(link, event)) {
    throw new RuntimeError('EVENT_INVALID', `hook "${only}" does not run at ${event.hook} ${event.phase}`);
  }
  // The port also needs filter mode. Otherwise the shadow's decision would be recorded as one about real traffic.
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

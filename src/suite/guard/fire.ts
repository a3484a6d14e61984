import { randomUUID } from 'node:crypto';
import PQueue from 'p-queue';
import type { Decision, HookEvent } from '../../contract/hook.ts';
import { RuntimeError } from '../../errors.ts';
import { readEvent } from '../../hooks/event.ts';
import { hears, type Link, passGate } from '../../hooks/gate.ts';
import { inLine } from '../../time/stopwatch.ts';
import type { GuardRecord } from '../run/record.ts';
import type { Court, Fired } from '../score/score.ts';
import { readConfidence } from './confidence.ts';

export interface FireOptions {
  readonly links: readonly Link[];
  /** Says what is wrong with an event that a filter has changed. */
  readonly check: (event: HookEvent) => string | undefined;
  /** Events on their way at once: with more of them, hooks would be found as slow as the queue for their processes. */
  readonly concurrency: number;
}

/**
 * Takes labelled events through the filters of a runtime, or through one filter or shadow alone. Nobody else hears of
 * them. Calls throw EVENT_INVALID when the event is none of its hook and phase, and NAME_UNKNOWN.
 */
export function openFire({ links, check, concurrency }: FireOptions): Court['fire'] {
  const lane = new PQueue({ concurrency });
  return async (loose, only, signal) => {
    const event = readTrialEvent(loose);
    const asked = only === undefined ? links : aloneIn(links, only, event);
    return await inLine(
      () => fire(asked, event, { check, signal }),
      (work) => lane.add(work),
    );
  };
}

async function fire(
  links: readonly Link[],
  event: HookEvent,
  { check, signal }: Pick<FireOptions, 'check'> & { readonly signal: AbortSignal },
): Promise<Fired> {
  const hooks: GuardRecord['hooks'][number][] = [];
  const { decision } = await passGate(links, event, {
    call: `event_${randomUUID()}`,
    signal,
    check,
    filtersOnly: true,
    onAnswer: (name, verdict, { durationMs }) =>
      hooks.push({ name, verdict, duration_ms: Math.round(durationMs * 1000) / 1000 }),
  });
  return toFired(event, decision, hooks);
}

function readTrialEvent(loose: Readonly<Record<string, unknown>>): HookEvent {
  const { hook, phase, request, response } = loose;
  if (hook !== 'provider' && hook !== 'tool') {
    throw new RuntimeError('EVENT_INVALID', 'guard.hook must be provider or tool');
  }
  const usual = hook === 'provider' ? 'before_call' : 'before_execution';
  return readEvent({
    hook,
    phase: typeof phase === 'string' ? phase : usual,
    request: request ?? {},
    ...(response === undefined ? {} : { response }),
  });
}

/** A shadow is asked as the filter that it may become. */
function aloneIn(links: readonly Link[], only: string, event: HookEvent): Link[] {
  const link = links.filter((each) => 'name' in each).find(({ name }) => name === only);
  const { listener } = link ?? {};
  if (link === undefined || listener === undefined || listener.mode === 'observe') {
    throw new RuntimeError('NAME_UNKNOWN', `there is no filter or shadow "${only}"`);
  }
  if (!hears(link, event)) {
    throw new RuntimeError('EVENT_INVALID', `hook "${only}" has no part in ${event.hook} ${event.phase}`);
  }
  // Also by name: what a shadow decides of a trial is none of the traffic that it is kept for.
  return [{ ...link, listener: { mode: 'filter', port: { ...listener.port, mode: 'filter' } } }];
}

function toFired(event: HookEvent, decision: Decision, hooks: GuardRecord['hooks']): Fired {
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

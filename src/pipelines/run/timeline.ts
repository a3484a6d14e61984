import type { PendingRecord } from '../../contract/approval.ts';
import type { TimelineEntry } from '../../contract/run.ts';
import type { RunHistoryEntry, RunRecord, StepRecord } from '../../store/store.ts';
import { isEnded } from '../../store/store-rules.ts';
import { readRecord } from '../state/record.ts';
import { splitName } from '../state/retries.ts';
import { belowRecord } from '../state/run-below.ts';
import { stepEntryOf } from '../state/step-outcome.ts';

/** The stored history of a run. */
export interface History {
  readonly steps: readonly StepRecord[];
  readonly pendings: readonly PendingRecord[];
  /** The order of the events, as the store recorded them. */
  readonly moments: readonly RunHistoryEntry[];
}

/** The timeline in stored order, since clocks are adjusted and differ between machines. */
export function toTimeline(run: RunRecord, { steps, pendings, moments }: History): TimelineEntry[] {
  const positions = new Map(moments.map(({ what, subject }, place) => [`${what} ${subject}`, place]));
  const positionOf = ({ key }: KeyedTimelineEntry) => positions.get(key) ?? moments.length;
  const between = [
    ...steps.flatMap((step) => toStepEntries(run, step)),
    ...pendings.flatMap(toPendingEntries),
  ].toSorted((one, other) => positionOf(one) - positionOf(other) || one.at - other.at);
  const started = { at: iso(run.createdAt), what: 'started', step: null, detail: run.name } as const;
  const ended = { at: iso(run.updatedAt), what: 'ended', step: null, detail: run.status } as const;
  return [
    started,
    ...between.map(({ key: _, at, ...entry }) => ({ at: iso(at), ...entry })),
    ...(isEnded(run.status) ? [ended] : []),
  ];
}

interface KeyedTimelineEntry extends Omit<TimelineEntry, 'at'> {
  readonly at: number;
  /** The key of the store's record of it. */
  readonly key: string;
}

function toStepEntries(run: RunRecord, record: StepRecord): KeyedTimelineEntry[] {
  const { step: stored, attempts, beganAt, endedAt } = record;
  const { path: step } = splitName(stored);
  if (/^@retry\//.test(step))
    return [{ key: `ended ${stored}`, at: beganAt, what: 'retried', step: null, detail: '' }];
  const entry = stepEntryOf(run, record);
  const often = attempts > 1 ? `begun ${attempts} times` : '';
  const began: KeyedTimelineEntry = {
    key: `began ${stored}`,
    at: beganAt,
    what: 'step began',
    step,
    detail: often,
  };
  if (endedAt === null) return [began];
  const detail =
    entry === undefined
      ? runOf(run.id, record)
      : `${entry.status}${entry.error ? `: ${entry.error.message}` : ''}`;
  const ended: KeyedTimelineEntry = { key: `ended ${stored}`, at: endedAt, what: 'step ended', step, detail };
  return attempts === 0 ? [ended] : [began, ended];
}

/** The run that a pipeline step began; nothing of any other record. */
function runOf(run: string, { step, outcome }: StepRecord): string {
  if (outcome === null || !/\/run(?:~\d+)?$/.test(step)) return '';
  return readRecord(belowRecord, outcome, { run, step }).run_id;
}

function toPendingEntries({
  id,
  step,
  message,
  createdAt,
  decidedAt,
  ruling,
}: PendingRecord): KeyedTimelineEntry[] {
  const detail = `${id}: ${message}`;
  const opened: KeyedTimelineEntry = { key: `pending ${id}`, at: createdAt, what: 'pending', step, detail };
  if (ruling === null || decidedAt === null) return [opened];
  const by = 'by' in ruling && ruling.by !== '' ? ` by ${ruling.by}` : '';
  const decision = `${id}: ${ruling.kind}${by}`;
  return [opened, { key: `decided ${id}`, at: decidedAt, what: 'decided', step, detail: decision }];
}

/** A time in ms since 1970 as documents have it. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

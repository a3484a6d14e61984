import { toDocument } from '../../base/json/document-builder.ts';
import type { StepDetails, StepsOptions } from '../../contract/run-details.ts';
import type { RunRecord, StepRecord } from '../../store/store.ts';
import { iso } from '../run/timeline.ts';
import { splitName } from '../state/retries.ts';
import { type StepEntry, stepEntryOf } from '../state/step-outcome.ts';
import { shortenJson } from './shorten-json.ts';
import { isWithin, placeOfWork } from './step-place.ts';
import { toWorkDetails } from './work-details.ts';

/**
 * What each step of a run came to, in the order in which they ended, from records in the order of the store; then those that have
 * not ended. Holds the work of the steps under way only, however many there are. Throws STORE_FAILED.
 */
export async function* toStepDetails(
  run: Pick<RunRecord, 'id' | 'status'>,
  records: AsyncIterable<StepRecord>,
  { step: only, maxCharacters }: StepsOptions,
): AsyncGenerator<StepDetails> {
  const context = { runId: run.id, maxCharacters };
  const open = new Map<string, Tree[]>();
  for await (const record of records) {
    const { path: step, retry } = splitName(record.step);
    if (/^@retry\/\d+$/.test(step)) continue;
    const entry = stepEntryOf(run, record);
    if (entry !== undefined) {
      const work = open.get(step) ?? [];
      open.delete(step);
      if (only === undefined || isAsked(step, only))
        yield toEnded({ ...record, step }, entry, { work, maxCharacters, retry });
      continue;
    }
    const place = placeOfWork(record.step);
    if (place === undefined || place.step === '@' || (only !== undefined && !isAsked(place.step, only)))
      continue;
    const work = toWorkDetails(place.kind, record, context);
    const others = open.get(place.step);
    if (others === undefined) open.set(place.step, [work]);
    else others.push(work);
  }
  for (const [step, work] of open) {
    const isPending = work.some((each) => 'status' in each && each.status === 'pending');
    const nothing = { kind: null, duration_ms: null, ended_at: null, view: null };
    yield toDocument<StepDetails>({ step, ...nothing, status: isPending ? 'pending' : 'open', work });
  }
}

type Tree = ReturnType<typeof toWorkDetails>;

/** An id means the step wherever it stands, such as in each item of a loop. */
function isAsked(path: string, only: string): boolean {
  return isWithin(path, only) || (/^\w+$/.test(only) && path.split('/').some((part) => partIs(part, only)));
}

function partIs(part: string, id: string): boolean {
  return part === id || part.startsWith(`${id}[`);
}

interface EndedContext {
  readonly work: readonly Tree[];
  readonly maxCharacters: number | undefined;
  readonly retry: number;
}

function toEnded(
  { step, endedAt }: StepRecord,
  { kind, status, durationMs, error, failedAt, view }: StepEntry,
  { work, maxCharacters, retry }: EndedContext,
): StepDetails {
  return toDocument<StepDetails>({
    ...{ step, kind, status, duration_ms: durationMs, ended_at: endedAt === null ? null : iso(endedAt) },
    ...(error && { error }),
    ...(failedAt !== undefined && { failed_at: failedAt }),
    ...(retry > 0 && { retry }),
    // The items of a loop stand for themselves, and may be many.
    view: kind === 'for_each' && maxCharacters !== undefined ? null : shortenJson(view, maxCharacters),
    work,
  });
}

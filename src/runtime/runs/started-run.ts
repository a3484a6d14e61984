import { RuntimeError } from '../../base/errors.ts';
import type { RunEvent } from '../../contract/event.ts';
import type { RunDocument } from '../../contract/run.ts';
import type { RunListener } from '../../pipelines/run/runs.ts';
import type { StartedRun } from '../api-options.ts';
import { openEventQueue } from './event-queue.ts';

/** A run that `begin` begins: its document, its id before that, and its events, as `toShown` gives them. */
export function toStartedRun(
  begin: (listener: RunListener) => Promise<RunDocument>,
  toShown: (event: RunEvent) => RunEvent,
): StartedRun {
  const queue = openEventQueue(toShown);
  const kept = Promise.withResolvers<string>();
  // What it was rejected with, the document is rejected with too.
  kept.promise.catch(() => {});
  const begun = begin({ onKept: kept.resolve, onEvent: queue.push });
  // A promise of its own, so that a run that nobody waits for and that failed is reported as any other rejection.
  const document = begun.then((ended) => {
    queue.end();
    return ended;
  });
  begun.catch((error: unknown) => {
    kept.reject(error);
    queue.end(error);
  });
  let isRead = false;
  const read = () => {
    if (isRead) {
      throw new RuntimeError('USAGE', 'the events of a run have one reader', {
        hint: 'Hand the events on from there.',
      });
    }
    isRead = true;
    // The reader is told.
    document.catch(() => {});
    return queue.reader;
  };
  return Object.assign(document, { id: kept.promise, [Symbol.asyncIterator]: read });
}

import type { Emit, RuntimeEvent } from '../contract/event.ts';
import { type Scrubber, scrubError, scrubFault, scrubSaid } from '../contract/scrub.ts';
import { toRuntimeError } from '../errors.ts';
import { isObject, Json } from '../json/json.ts';
import { exactMembers } from '../json/members.ts';
import type { Store } from '../store/store.ts';
import type { LazyStore } from './lazy-store.ts';

// Where words about a failure leave the runtime: to listeners, to callers, into the store.

/** Tells events without secrets. What a model says is data: whoever is shown it is shown it as it is. */
export function scrubEvents(emit: Emit, scrubber: Scrubber): Emit {
  return (event) => emit(event.type === 'text' ? event : scrubEvent(event, scrubber));
}

function scrubEvent(event: RuntimeEvent, scrubber: Scrubber): RuntimeEvent {
  switch (event.type) {
    case 'stderr':
      return { ...event, line: scrubber.text(event.line) };
    case 'call.finished': {
      const { error } = event;
      return error === undefined
        ? event
        : { ...event, error: { ...error, message: scrubber.text(error.message) } };
    }
    default:
      return scrubSaid(event, scrubber);
  }
}

/** The work with what it throws, and what its document says about a failure, scrubbed. */
export function scrubbed<Given extends unknown[], Result>(
  work: (...given: Given) => Promise<Result>,
  scrubber: Scrubber,
): (...given: Given) => Promise<Result> {
  return async (...given) => {
    try {
      const result = await work(...given);
      return isObject(result) && isBad(result) ? scrubSaid(result, scrubber) : result;
    } catch (thrown) {
      throw scrubError(toRuntimeError(thrown), scrubber);
    }
  };
}

function isBad(document: Readonly<Record<string, unknown>>): boolean {
  return ['failed', 'denied', 'unscored'].includes(String(document['status']));
}

/** The store, into which no error is written as it was: outcomes are exact, what is said of a failure is not. */
export function scrubbedStore(lazy: LazyStore, scrubber: Scrubber): LazyStore {
  return { open: async () => wrap(await lazy.open(), scrubber), close: () => lazy.close() };
}

function wrap(store: Store, scrubber: Scrubber): Store {
  return {
    ...store,
    setRunStatus: (id, change) =>
      store.setRunStatus(
        id,
        change.error ? { ...change, error: scrubFault(change.error, scrubber) } : change,
      ),
    endStep: (runId, step, outcome, at) => store.endStep(runId, step, scrubOutcome(outcome, scrubber), at),
    addPending: (call) =>
      store.addPending({ ...call, ...scrubSaid({ reason: call.reason, message: call.message }, scrubber) }),
  };
}

/** Only what went wrong has an `error`; everything else of an entry stays, digit for digit. */
function scrubOutcome(outcome: Json, scrubber: Scrubber): Json {
  const { error, view } = isObject(outcome.value) ? outcome.value : {};
  if (!isObject(error)) return outcome;
  const members = Object.fromEntries(exactMembers(outcome));
  const clean = scrubSaid({ error }, scrubber);
  if (!isObject(view) || !isObject(view['error'])) return Json.from({ ...members, ...clean });
  const seen = Object.fromEntries(exactMembers(Json.from(members['view'])));
  return Json.from({
    ...members,
    view: { ...seen, ...scrubSaid({ error: view['error'] }, scrubber) },
    ...clean,
  });
}

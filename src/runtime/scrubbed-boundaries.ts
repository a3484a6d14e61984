import type { Emit, RuntimeEvent } from '../contract/event.ts';
import { type Scrubber, scrubError, scrubFault, scrubMessages } from '../contract/scrub.ts';
import { toRuntimeError } from '../errors.ts';
import { isObject, Json } from '../json/json.ts';
import { exactMembers } from '../json/record.ts';
import type { Store } from '../store/store.ts';

// Scrubs failure messages where they leave the runtime: to listeners, to callers, into the store.

/**
 * Emits events with secrets hidden in their messages. The text of a model is data and is emitted unchanged.
 */
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
      return scrubMessages(event, scrubber);
  }
}

/** The function with the errors that it throws, and the failure messages of its document, scrubbed. */
export function withScrubbedErrors<Given extends unknown[], Result>(
  work: (...given: Given) => Promise<Result>,
  scrubber: Scrubber,
): (...given: Given) => Promise<Result> {
  return async (...given) => {
    try {
      const result = await work(...given);
      return isObject(result) && isFailure(result) ? scrubMessages(result, scrubber) : result;
    } catch (thrown) {
      throw scrubError(toRuntimeError(thrown), scrubber);
    }
  };
}

function isFailure(document: Readonly<Record<string, unknown>>): boolean {
  return ['failed', 'denied', 'unscored'].includes(String(document['status']));
}

/** The store with failure messages scrubbed before they are written; results are written exactly. */
export function scrubbedStore(store: Store, scrubber: Scrubber): Store {
  return {
    ...store,
    setRunStatus: (id, change) =>
      store.setRunStatus(
        id,
        change.error ? { ...change, error: scrubFault(change.error, scrubber) } : change,
      ),
    endStep: (runId, step, outcome, at) => store.endStep(runId, step, scrubOutcome(outcome, scrubber), at),
    addPending: (call) =>
      store.addPending({
        ...call,
        ...scrubMessages({ reason: call.reason, message: call.message }, scrubber),
      }),
  };
}

/** Only what went wrong has an `error`; everything else of an entry stays, digit for digit. */
function scrubOutcome(outcome: Json, scrubber: Scrubber): Json {
  const { error, view } = isObject(outcome.value) ? outcome.value : {};
  if (!isObject(error)) return outcome;
  const members = Object.fromEntries(exactMembers(outcome));
  const clean = scrubMessages({ error }, scrubber);
  if (!isObject(view) || !isObject(view['error'])) return Json.from({ ...members, ...clean });
  const seen = Object.fromEntries(exactMembers(Json.from(members['view'])));
  return Json.from({
    ...members,
    view: { ...seen, ...scrubMessages({ error: view['error'] }, scrubber) },
    ...clean,
  });
}

import { type Scrubber, scrubFault, scrubMessages } from '../contract/scrub.ts';
import { isObject, Json } from '../json/json.ts';
import { exactMembers } from '../json/scan.ts';
import type { Store } from '../store/store.ts';

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

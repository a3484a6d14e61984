import { composeJson } from '../base/json/compose.ts';
import { isObject, type Json } from '../base/json/json.ts';
import { exactMembers } from '../base/json/scan.ts';
import { type Scrubber, scrubFault, scrubMessages } from '../contract/scrub.ts';
import type { Store } from '../store/store.ts';

/** The store with failure messages scrubbed before they are written; results are written exactly. */
export function scrubbedStore(store: Store, scrubber: Scrubber): Store {
  return {
    ...store,
    setRunStatus: (id, change) => {
      const { error, suspension } = change;
      return store.setRunStatus(id, {
        ...change,
        ...(error && { error: scrubFault(error, scrubber) }),
        ...(suspension?.error && {
          suspension: { ...suspension, error: scrubFault(suspension.error, scrubber) },
        }),
      });
    },
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
  const members = membersOf(outcome);
  const error = members['error']?.value;
  if (!isObject(error)) return outcome;
  const clean = scrubMessages({ error }, scrubber);
  const seen = members['view'] === undefined ? {} : membersOf(members['view']);
  const seenError = seen['error']?.value;
  if (!isObject(seenError)) return composeJson({ ...members, ...clean });
  return composeJson({
    ...members,
    view: { ...seen, ...scrubMessages({ error: seenError }, scrubber) },
    ...clean,
  });
}

/** Without reading what is long in it; empty for what is no object. */
function membersOf(json: Json): Readonly<Record<string, Json>> {
  return json.skeleton.startsWith('{') ? Object.fromEntries(exactMembers(json)) : {};
}

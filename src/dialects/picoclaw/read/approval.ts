import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, type Json } from '../../../json/json.ts';
import { excerpt, nonNull, toBody } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import type { HookEntry } from '../../foreign-dialect.ts';
import { isAmbiguous, noteUnknownKeys } from '../../unknown-keys.ts';
import { denyFailure } from '../failure.ts';
import { foldBody } from '../json-parts.ts';
import { denyingActions, findDenial, noteUnimplementedKeys } from '../misplaced-denial.ts';
import { metadataOf, reasonOf } from '../reply-texts.ts';

/** Decodes an approver's result: only `approved: true` approves, all else denies. */
export function readApproval(entry: HookEntry<unknown>, result: Json | undefined): Decoded<Answer> {
  const given = nonNull(result);
  if (given === undefined) return denyFailure(entry, 'answered nothing, so the call is not approved');
  if (!isObject(given.value)) {
    return denyFailure(
      entry,
      `answered with what is no object, so the call is not approved: ${excerpt(given.text)}`,
    );
  }
  const body = foldBody(toBody(given), ['reason', 'message']);
  const notes = [
    ...noteUnknownKeys(body, ['approved', 'reason', 'message']),
    ...noteUnimplementedKeys(body, 'approve_tool'),
  ];
  if (isAmbiguous(body, 'approved') || isAmbiguous(body, 'action')) {
    return denyFailure(entry, 'gave its verdict twice', { notes });
  }
  const approved = nonNull(body.get('approved'))?.value;
  const beside = { metadata: metadataOf(body) };
  if (approved === false) {
    return decoded(
      answers.deny(reasonOf(body, `hook "${entry.name}" did not approve the call`), beside),
      notes,
    );
  }
  const denial = findDenial(body) ?? denialIn(body.get('action'));
  if (denial !== undefined) return denyFailure(entry, `denied with ${excerpt(denial)}`, { notes });
  const reason = nonNull(body.get('reason'))?.value;
  if (approved === true && reason !== undefined && typeof reason !== 'string') {
    return denyFailure(entry, 'approved with a reason that is no string, which PicoClaw cannot read', {
      notes,
    });
  }
  if (approved === true) return decoded(answers.allow({ reason: reasonOf(body), ...beside }), notes);
  return denyFailure(entry, 'answered without `approved: true`', { notes });
}

/** An approver has no actions; one beside `approved: true` that denies is in doubt. */
function denialIn(action: Json | undefined): string | undefined {
  return action !== undefined && denyingActions.includes(action.value) ? `action: ${action.text}` : undefined;
}

import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, type Json } from '../../../json/json.ts';
import { excerpt, malformed, nonNull } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import type { HookEntry } from '../../foreign-dialect.ts';
import { denyAsWritten, denyFailure } from '../failure.ts';
import { denyingActions, findDenial } from '../misplaced-denial.ts';
import { metadataOf, readReplyObject, reasonOf } from './reply.ts';

/** Decodes an approver's result: only `approved: true` approves, all else denies. */
export function readApproval(entry: HookEntry<unknown>, result: Json | undefined): Decoded<Answer> {
  const given = nonNull(result);
  if (given === undefined) return denyFailure(entry, 'answered nothing, so the call is not approved');
  if (!isObject(given.value)) {
    const what = `answered with what is no object, so the call is not approved: ${excerpt(given.text)}`;
    return denyFailure(entry, what, { error: malformed(what) });
  }
  const { body, notes, isAmbiguous } = readReplyObject(given, 'approve_tool', [
    'approved',
    'reason',
    'message',
  ]);
  const refuse = (what: string) => denyFailure(entry, what, { notes });
  if (isAmbiguous) return refuse('gave its verdict twice');
  const approved = nonNull(body.get('approved'))?.value;
  const beside = { metadata: metadataOf(body) };
  if (approved === false) {
    const reason = reasonOf(body, `hook "${entry.name}" did not approve the call`);
    return decoded(answers.deny(reason, beside), notes);
  }
  const denial = findDenial(body) ?? denialIn(body.get('action'));
  if (denial !== undefined) return denyAsWritten(entry, denial, notes);
  const reason = nonNull(body.get('reason'))?.value;
  if (approved === true && reason !== undefined && typeof reason !== 'string') {
    return refuse('approved with a reason that is no string, which PicoClaw cannot read');
  }
  if (approved === true) return decoded(answers.allow({ reason: reasonOf(body), ...beside }), notes);
  return refuse('answered without `approved: true`');
}

/** An approver has no actions; one beside `approved: true` that denies is in doubt. */
function denialIn(action: Json | undefined): string | undefined {
  return action !== undefined && denyingActions.includes(action.value) ? `action: ${action.text}` : undefined;
}

import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, type Json } from '../../../json/json.ts';
import { excerpt, present, toBody } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import type { Seat } from '../../foreign.ts';
import { isAmbiguous, noteUnknownKeys } from '../../keys.ts';
import { denied } from '../failure.ts';
import { denials, findDenial, noteTrap } from '../foreign-denial.ts';
import { foldBody } from '../json-parts.ts';
import { metadataOf, reasonOf } from '../said.ts';

/** What an approver answered: only `approved`, being the boolean true, approves. */
export function readApproval(seat: Seat<unknown>, result: Json | undefined): Decoded<Answer> {
  const given = present(result);
  if (given === undefined) return denied(seat, 'answered nothing, so the call is not approved');
  if (!isObject(given.value)) {
    return denied(
      seat,
      `answered with what is no object, so the call is not approved: ${excerpt(given.text)}`,
    );
  }
  const body = foldBody(toBody(given), ['reason', 'message']);
  const notes = [
    ...noteUnknownKeys(body, ['approved', 'reason', 'message']),
    ...noteTrap(body, 'approve_tool'),
  ];
  if (isAmbiguous(body, 'approved') || isAmbiguous(body, 'action')) {
    return denied(seat, 'gave its verdict twice', { notes });
  }
  const approved = present(body.get('approved'))?.value;
  const beside = { metadata: metadataOf(body) };
  if (approved === false) {
    return decoded(
      answers.deny(reasonOf(body, `hook "${seat.name}" did not approve the call`), beside),
      notes,
    );
  }
  const denial = findDenial(body) ?? denialIn(body.get('action'));
  if (denial !== undefined) return denied(seat, `denied with ${excerpt(denial)}`, { notes });
  const reason = present(body.get('reason'))?.value;
  if (approved === true && reason !== undefined && typeof reason !== 'string') {
    return denied(seat, 'approved with a reason that is no string, which PicoClaw cannot read', { notes });
  }
  if (approved === true) return decoded(answers.allow({ reason: reasonOf(body), ...beside }), notes);
  return denied(seat, 'answered without `approved: true`', { notes });
}

/** An approver has no actions; one beside `approved: true` that denies is in doubt. */
function denialIn(action: Json | undefined): string | undefined {
  return action !== undefined && denials.includes(action.value) ? `action: ${action.text}` : undefined;
}

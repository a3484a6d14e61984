import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, Json } from '../../../json/json.ts';
import { partsOf } from '../../../json/scan.ts';
import { type Body, toBody } from '../../body.ts';
import type { Answered } from '../answered.ts';
import type { Asking } from '../asking.ts';
import { only, textAt } from '../output.ts';
import { unknown } from '../ruling.ts';
import { findWrongType } from '../schema.ts';

/** A word in a person's place. Undefined leaves it to the person: exit code 2 does, and so does silence. */
export function readPermission(
  _asking: Asking,
  { output, beside, ...answered }: Answered,
): Answer | undefined {
  const given = output.specific && only(output.specific, 'decision');
  if (given === undefined) return undefined;
  if (!isObject(given.value)) return answers.deny(unknown('decision', given.text).reason, beside);
  const decision = toBody(given);
  const behavior = only(decision, 'behavior');
  const said = { ...beside, metadata: recorded(beside.metadata, decision) };
  switch (behavior?.value) {
    case 'deny':
      return refuse(decision, said);
    case 'allow': {
      const isFit = answered.misfit === undefined && answered.blocked === undefined;
      return isFit ? approve(decision, said) : undefined;
    }
    default:
      return answers.deny(unknown('behavior', behavior?.text ?? 'none').reason, said);
  }
}

type Said = Answered['beside'];

function refuse(decision: Body, said: Said): Answer {
  const message = textAt(decision, 'message');
  return decision.get('interrupt')?.value === true
    ? answers.abort(message, 'turn', said)
    : answers.deny(message, said);
}

function approve(decision: Body, said: Said): Answer {
  const args = only(decision, 'updatedInput');
  const wrong = findWrongType(decision, { updatedInput: 'object', interrupt: 'flag' });
  if (wrong !== undefined) return answers.deny(`it ${wrong}`, said);
  return args === undefined ? answers.allow(said) : answers.modify({ args }, said);
}

/** Rules for later calls are told and not applied. */
function recorded(metadata: Json | undefined, decision: Body): Json {
  const updatedPermissions = decision.get('updatedPermissions');
  return Json.from({ ...(metadata && partsOf(metadata)), ...(updatedPermissions && { updatedPermissions }) });
}

import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, Json } from '../../../json/json.ts';
import { membersOf } from '../../../json/scan.ts';
import { type Body, toBody } from '../../body.ts';
import type { HookQuestion } from '../hook-question.ts';
import { type ParsedReply, textAt, uniqueMember } from '../reply-object.ts';
import { findWrongType } from '../reply-schema.ts';
import { denyAs, unknownVerdict } from '../reply-verdict.ts';

/**
 * Reads a PermissionRequest decision. Undefined leaves it to the person, as exit code 2 and no decision do.
 */
export function readPermission(
  _asking: HookQuestion,
  { output, beside, ...answered }: ParsedReply,
): Answer | undefined {
  const given = output.specific && uniqueMember(output.specific, 'decision');
  if (given === undefined) return undefined;
  if (!isObject(given.value)) return denyAs(unknownVerdict('decision', given.text), beside);
  const decision = toBody(given);
  const behavior = uniqueMember(decision, 'behavior');
  const extras = { ...beside, metadata: withPermissions(beside.metadata, decision) };
  switch (behavior?.value) {
    case 'deny':
      return readDenial(decision, extras);
    case 'allow': {
      const isFit = answered.fault === undefined && answered.blocked === undefined;
      return isFit ? readApproval(decision, extras) : undefined;
    }
    default:
      return denyAs(unknownVerdict('behavior', behavior?.text ?? 'none'), extras);
  }
}

type Extras = ParsedReply['beside'];

function readDenial(decision: Body, extras: Extras): Answer {
  const message = textAt(decision, 'message');
  return decision.get('interrupt')?.value === true
    ? answers.abort(message, 'turn', extras)
    : answers.deny(message, extras);
}

function readApproval(decision: Body, extras: Extras): Answer {
  const args = uniqueMember(decision, 'updatedInput');
  const wrong = findWrongType(decision, { updatedInput: 'object', interrupt: 'flag' });
  if (wrong !== undefined) return answers.deny(`it ${wrong}`, extras);
  return args === undefined ? answers.allow(extras) : answers.modify({ args }, extras);
}

/** The metadata with `updatedPermissions`, which is recorded and not applied. */
function withPermissions(metadata: Json | undefined, decision: Body): Json {
  const updatedPermissions = decision.get('updatedPermissions');
  return Json.from({
    ...(metadata && membersOf(metadata)),
    ...(updatedPermissions && { updatedPermissions }),
  });
}

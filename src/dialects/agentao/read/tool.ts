import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, Json } from '../../../json/json.ts';
import { excerpt, malformed, present } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { readBadExit } from '../failure.ts';
import {
  blockingErrorOf,
  contextsOf,
  decisionOf,
  discontinuedBy,
  type Fields,
  isAnswer,
  preventedBy,
  readFields,
  specificTextOf,
  textOf,
} from '../fields.ts';
import { holdsNonFinite } from '../python/loads.ts';
import { type Asked, attach } from '../record.ts';
import type { Left } from '../reply.ts';
import { blocked, metadataOf, type Said } from '../said.ts';

/** PreToolUse: stdout is read whatever the exit code; without an answer in it a bad exit is a failure. */
export function readTool(asked: Asked, left: Left): Decoded<Answer> {
  const { text, body, failure } = left;
  if (body !== undefined) return readObject(asked, left, readFields(body));
  const said = text === '' ? sayNothing(asked) : recordText(asked, text);
  if (failure !== undefined) return readBadExit(asked, failure, left, said);
  return decoded(answers.allow({ metadata: metadataOf(said) }));
}

function readObject(asked: Asked, left: Left, fields: Fields): Decoded<Answer> {
  const answer = readAnswer(asked, fields);
  const isSaid = isAnswer(fields) || permissionOf(fields) !== undefined || inputOf(fields) !== undefined;
  return isSaid || left.failure === undefined ? decoded(answer) : readBadExit(asked, left.failure, left);
}

/** The strictest of all that the object says: abort, deny, ask, allow. */
function readAnswer(asked: Asked, fields: Fields): Answer {
  const contexts = contextsOf(fields);
  const permission = permissionOf(fields);
  const decision = decisionOf(fields);
  const halt = discontinuedBy(fields) ?? preventedBy(fields);
  const reason = reasonOf(fields);
  const recorded = recordAnswer(asked, fields, contexts);
  if (halt !== undefined) {
    const why = halt.reason ?? reason ?? 'Hook prevented continuation';
    return answers.abort(why, 'turn', { metadata: metadataOf({ ...recorded, stop_reason: why }) });
  }
  const isDenied = permission === 'deny' || decision === 'block';
  const error = blockingErrorOf(fields) ?? (isDenied ? (reason ?? 'the hook gave no reason') : undefined);
  if (error !== undefined) return denyCall(asked, error, contexts);
  const metadata = metadataOf(recorded);
  // A call that is put off runs later, if at all: what was said for a run now has no meaning.
  if (permission === 'defer') return answers.ask(reason ?? '', { metadata });
  return allowOrAsk(fields, permission, { reason: reason ?? '', metadata, context: contexts });
}

function allowOrAsk(
  fields: Fields,
  permission: Permission | undefined,
  beside: { readonly reason: string; readonly metadata: Json; readonly context: readonly string[] },
): Answer {
  const args = inputOf(fields);
  const { reason, ...others } = beside;
  if (permission !== 'ask')
    return args === undefined ? answers.allow(beside) : answers.modify({ args }, beside);
  return answers.ask(reason, { ...others, ...(args && { replace: Json.from({ args }) }) });
}

function denyCall(asked: Asked, error: string, contexts: readonly string[]): Answer {
  const messages = [attach(asked, 'hook_blocking_error', { error })];
  const said = { additional_contexts: contexts, blocking_error: error, messages };
  return blocked('[Blocked by hook]', error, { said, context: contexts });
}

type Permission = 'allow' | 'deny' | 'ask' | 'defer';

/** Throws REPLY_MALFORMED for a word that is no decision, and for a container that can hold none. */
function permissionOf({ body, specific }: Fields): Permission | undefined {
  const container = present(body.get('hookSpecificOutput'));
  if (container !== undefined && specific === undefined) {
    throw malformed(`the reply's \`hookSpecificOutput\` is not an object: ${excerpt(container.text)}`);
  }
  const word = present(specific?.get('permissionDecision'));
  switch (word?.value) {
    case undefined:
      return undefined;
    case 'allow':
    case 'deny':
    case 'ask':
    case 'defer':
      return word?.value;
    default:
      throw malformed(`the reply has the unknown permissionDecision ${excerpt(word?.text ?? '')}`);
  }
}

/** New arguments. Throws REPLY_MALFORMED when they are not an object that JSON can say. */
function inputOf({ body, specific }: Fields): Json | undefined {
  const input = present(specific?.get('updatedInput')) ?? present(body.get('updatedInput'));
  if (input === undefined) return undefined;
  if (!isObject(input.value)) {
    throw malformed(`the reply's \`updatedInput\` is not an object: ${excerpt(input.text)}`);
  }
  if (holdsNonFinite(input.value))
    throw malformed("the reply's `updatedInput` has a number that JSON has not");
  return input;
}

function reasonOf(fields: Fields): string | undefined {
  return specificTextOf(fields, 'permissionDecisionReason', 'reason') ?? textOf(fields, 'reason');
}

function sayNothing(asked: Asked): Said {
  return { messages: [attach(asked, 'hook_success', {})] };
}

/** Text is kept on record, and not given to the model. */
function recordText(asked: Asked, text: string): Said {
  const messages = [attach(asked, 'hook_additional_context', { context: text })];
  return { additional_contexts: [text], messages };
}

function recordAnswer(asked: Asked, { body }: Fields, contexts: readonly string[]): Said {
  return { additional_contexts: contexts, messages: [attach(asked, 'hook_success', body.json)] };
}

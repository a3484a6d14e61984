import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, Json } from '../../../json/json.ts';
import { excerpt, malformed, nonNull } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { readExitFailure } from '../failure.ts';
import type { ProcessOutput } from '../process-output.ts';
import { holdsNonFinite } from '../python/loads.ts';
import {
  blockingErrorOf,
  contextsOf,
  continueFalseOf,
  decisionOf,
  hasAnswer,
  noReason,
  preventContinuationOf,
  type ReplyFields,
  readFields,
  specificTextOf,
  textOf,
} from '../reply-fields.ts';
import { attach, denyWithError, type HookQuestion, metadataOf, type RuleResult } from '../rule-result.ts';

/**
 * Decodes a reply at PreToolUse. An answer counts whatever the exit code; without one a non-zero exit fails.
 */
export function readTool(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { text, body, failure } = processOutput;
  if (body !== undefined) return readObject(asked, processOutput, readFields(body));
  const result = text === '' ? recordSuccess(asked) : recordText(asked, text);
  if (failure !== undefined) return readExitFailure(asked, failure, result);
  return decoded(answers.allow({ metadata: metadataOf(result) }));
}

function readObject(asked: HookQuestion, processOutput: ProcessOutput, fields: ReplyFields): Decoded<Answer> {
  const answer = readAnswer(asked, fields);
  const isAnswered = hasAnswer(fields) || permissionOf(fields) !== undefined || inputOf(fields) !== undefined;
  return isAnswered || processOutput.failure === undefined
    ? decoded(answer)
    : readExitFailure(asked, processOutput.failure);
}

/** The strictest verdict in the object: abort, deny, ask, allow. */
function readAnswer(asked: HookQuestion, fields: ReplyFields): Answer {
  const contexts = contextsOf(fields);
  const permission = permissionOf(fields);
  const decision = decisionOf(fields);
  const halt = continueFalseOf(fields) ?? preventContinuationOf(fields);
  const reason = reasonOf(fields);
  const recorded = recordAnswer(asked, fields, contexts);
  if (halt !== undefined) {
    const why = halt.reason ?? reason ?? 'Hook prevented continuation';
    return answers.abort(why, 'turn', { metadata: metadataOf({ ...recorded, stop_reason: why }) });
  }
  const isDenied = permission === 'deny' || decision === 'block';
  const error = blockingErrorOf(fields) ?? (isDenied ? (reason ?? noReason) : undefined);
  if (error !== undefined) {
    return denyWithError(asked, error, { result: { additional_contexts: contexts }, context: contexts });
  }
  const metadata = metadataOf(recorded);
  // A deferred call does not run now, so context and new arguments are dropped.
  if (permission === 'defer') return answers.ask(reason ?? '', { metadata });
  return allowOrAsk(fields, permission, { reason: reason ?? '', metadata, context: contexts });
}

function allowOrAsk(
  fields: ReplyFields,
  permission: Permission | undefined,
  extras: { readonly reason: string; readonly metadata: Json; readonly context: readonly string[] },
): Answer {
  const args = inputOf(fields);
  const { reason, ...others } = extras;
  if (permission !== 'ask')
    return args === undefined ? answers.allow(extras) : answers.modify({ args }, extras);
  return answers.ask(reason, { ...others, ...(args && { replace: Json.from({ args }) }) });
}

type Permission = 'allow' | 'deny' | 'ask' | 'defer';

/**
 * Reads `permissionDecision`. Throws REPLY_MALFORMED for an unknown word, or a `hookSpecificOutput` that is
 * no object.
 */
function permissionOf({ body, specific }: ReplyFields): Permission | undefined {
  const container = nonNull(body.get('hookSpecificOutput'));
  if (container !== undefined && specific === undefined) {
    throw malformed(`the reply's \`hookSpecificOutput\` is not an object: ${excerpt(container.text)}`);
  }
  const word = nonNull(specific?.get('permissionDecision'));
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

/**
 * The new arguments, if any. Throws REPLY_MALFORMED when they are no object, or hold a number that is not
 * JSON.
 */
function inputOf({ body, specific }: ReplyFields): Json | undefined {
  const input = nonNull(specific?.get('updatedInput')) ?? nonNull(body.get('updatedInput'));
  if (input === undefined) return undefined;
  if (!isObject(input.value)) {
    throw malformed(`the reply's \`updatedInput\` is not an object: ${excerpt(input.text)}`);
  }
  if (holdsNonFinite(input.value))
    throw malformed("the reply's `updatedInput` has a number that JSON has not");
  return input;
}

function reasonOf(fields: ReplyFields): string | undefined {
  return specificTextOf(fields, 'permissionDecisionReason', 'reason') ?? textOf(fields, 'reason');
}

function recordSuccess(asked: HookQuestion): RuleResult {
  return { messages: [attach(asked, 'hook_success', {})] };
}

/** Text is kept on record, and not given to the model. */
function recordText(asked: HookQuestion, text: string): RuleResult {
  const messages = [attach(asked, 'hook_additional_context', { context: text })];
  return { additional_contexts: [text], messages };
}

function recordAnswer(asked: HookQuestion, { body }: ReplyFields, contexts: readonly string[]): RuleResult {
  return { additional_contexts: contexts, messages: [attach(asked, 'hook_success', body.json)] };
}

import { toRuntimeError } from '../../../base/errors.ts';
import { isObject, Json } from '../../../base/json/json.ts';
import { type Answer, answers } from '../../../contract/hook.ts';
import { type Body, excerpt, malformed, nonNull } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { textAt, typeOf } from '../../payload-table.ts';
import { dataOf } from '../envelope.ts';
import { holdsNonFinite, type ProcessOutput } from '../process-output.ts';
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
import {
  attach,
  denyWithError,
  denyWithMarker,
  type HookQuestion,
  metadataOf,
  type RuleResult,
  readExitFailure,
} from '../rule-result.ts';

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

/** Decodes a reply at PostToolUse or PostToolUseFailure: JSON counts, plain text is only logged. */
export function readAfter(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { body } = processOutput;
  return body === undefined
    ? readText(asked, processOutput)
    : readAfterToolObject(asked, processOutput, readFields(body));
}

/** The answer for plain text at a point where text has no meaning: a debug note, or the exit failure. */
function readText(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { text, failure } = processOutput;
  if (failure !== undefined) return readExitFailure(asked, failure);
  const message = `it said: ${excerpt(text)}`;
  return decoded(answers.allow(), text === '' ? [] : [{ level: 'debug', message }]);
}

function readAfterToolObject(
  asked: HookQuestion,
  processOutput: ProcessOutput,
  fields: ReplyFields,
): Decoded<Answer> {
  const answer = readAfterToolAnswer(asked, fields);
  if (processOutput.failure === undefined || answer.verdict !== 'allow' || hasAnswer(fields))
    return decoded(answer);
  return readExitFailure(asked, processOutput.failure);
}

function readAfterToolAnswer(asked: HookQuestion, fields: ReplyFields): Answer {
  const { point } = asked.question;
  const context = contextsOf(fields);
  const halt = continueFalseOf(fields) ?? preventContinuationOf(fields);
  const error = blockingErrorOf(fields);
  if (halt !== undefined)
    return answers.abort(halt.reason ?? 'Hook prevented continuation', 'turn', { context });
  if (error !== undefined && point === 'PostToolUseFailure') return answers.abort(error, 'turn', { context });
  if (error !== undefined) return denyWithMarker('[Blocked by hook]', error, { context });
  // Claude's block undoes nothing here: its reason stands beside the result.
  const reason = decisionOf(fields) === 'block' ? textOf(fields, 'reason') : undefined;
  const extras = { context: reason === undefined ? context : [...context, reason] };
  const output = outputOf(asked, fields);
  return output === undefined ? answers.allow(extras) : answers.modify({ content: output }, extras);
}

/**
 * The new tool output, if any. Throws REPLY_MALFORMED when it is neither a text nor of the type of the
 * result: it may be a redaction, so the original must not pass.
 */
function outputOf({ question }: HookQuestion, { body, specific }: ReplyFields): string | undefined {
  const keys = ['updatedToolOutput', 'updatedMCPToolOutput'];
  const output = keys.map((key) => specific?.get(key) ?? body.get(key)).find((each) => each !== undefined);
  if (output === undefined) return undefined;
  if (typeof output.value === 'string') return output.value;
  const old = textAt(dataOf(question.payload), 'toolOutput') ?? '';
  const isFit = kindOf(output) === kindOf(new Json(old)) && !holdsNonFinite(output.value);
  if (isFit) return output.text;
  throw malformed(`the new output is neither a text nor of the result's type: ${excerpt(output.text)}`);
}

function kindOf(json: Json): string | undefined {
  try {
    return typeOf(json.value);
  } catch {
    return undefined;
  }
}

/** Decodes a reply at SessionStart: only context counts, nothing stops the turn. */
export function readStart(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { body, failure } = processOutput;
  if (body === undefined) return readText(asked, processOutput);
  const { context, remark } = readContext(body);
  if (context.length === 0 && failure !== undefined) return readExitFailure(asked, failure);
  return decoded(
    answers.allow({ context }),
    remark === undefined ? [] : [{ level: 'warn', message: remark }],
  );
}

interface Start {
  readonly context: readonly string[];
  readonly remark?: string;
}

function readContext(body: Body): Start {
  try {
    const fields = readFields(body);
    const context = contextsOf(fields);
    const stops = [
      decisionOf(fields) === 'block',
      continueFalseOf(fields),
      preventContinuationOf(fields),
      blockingErrorOf(fields),
    ];
    const isStop = stops.some((each) => each !== undefined && each !== false);
    return isStop
      ? { context, remark: `SessionStart stops nothing: ${excerpt(body.json.text)} has no effect` }
      : { context };
  } catch (thrown) {
    return { context: [], remark: `SessionStart takes context only: ${toRuntimeError(thrown).message}` };
  }
}

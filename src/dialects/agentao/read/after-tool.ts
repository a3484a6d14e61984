import { type Answer, answers } from '../../../contract/hook.ts';
import { Json } from '../../../json/json.ts';
import { excerpt, malformed } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { textAt, typeOf } from '../../payload.ts';
import { dataOf } from '../envelope.ts';
import { readExitFailure } from '../failure.ts';
import type { ProcessOutput } from '../process-output.ts';
import { holdsNonFinite } from '../python/loads.ts';
import {
  blockingErrorOf,
  contextsOf,
  continueFalseOf,
  decisionOf,
  hasAnswer,
  preventContinuationOf,
  type ReplyFields,
  readFields,
  textOf,
} from '../reply-fields.ts';
import { denyWithMarker, type HookQuestion } from '../rule-result.ts';

/** Decodes a reply at PostToolUse or PostToolUseFailure: JSON counts, plain text is only logged. */
export function readAfter(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { body } = processOutput;
  return body === undefined
    ? readText(asked, processOutput)
    : readObject(asked, processOutput, readFields(body));
}

/** The answer for plain text at a point where text has no meaning: a debug note, or the exit failure. */
export function readText(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { text, failure } = processOutput;
  if (failure !== undefined) return readExitFailure(asked, failure);
  const message = `it said: ${excerpt(text)}`;
  return decoded(answers.allow(), text === '' ? [] : [{ level: 'debug', message }]);
}

function readObject(asked: HookQuestion, processOutput: ProcessOutput, fields: ReplyFields): Decoded<Answer> {
  const answer = readAnswer(asked, fields);
  if (processOutput.failure === undefined || answer.verdict !== 'allow' || hasAnswer(fields))
    return decoded(answer);
  return readExitFailure(asked, processOutput.failure);
}

function readAnswer(asked: HookQuestion, fields: ReplyFields): Answer {
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

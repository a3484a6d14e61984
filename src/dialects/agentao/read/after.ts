import { type Answer, answers } from '../../../contract/hook.ts';
import { Json } from '../../../json/json.ts';
import { excerpt, malformed } from '../../body.ts';
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
  textOf,
} from '../fields.ts';
import { holdsNonFinite } from '../python/loads.ts';
import type { Asked } from '../record.ts';
import type { Left } from '../reply.ts';
import { blocked } from '../said.ts';
import { dataOf, textAt } from '../tree.ts';

/** PostToolUse and PostToolUseFailure: explicit JSON counts, text is for the log. */
export function readAfter(asked: Asked, left: Left): Decoded<Answer> {
  const { body } = left;
  return body === undefined ? readText(asked, left) : readObject(asked, left, readFields(body));
}

/** Text where none is read. */
export function readText(asked: Asked, left: Left): Decoded<Answer> {
  const { text, failure } = left;
  if (failure !== undefined) return readBadExit(asked, failure, left);
  const message = `it said: ${excerpt(text)}`;
  return decoded(answers.allow(), text === '' ? [] : [{ level: 'debug', message }]);
}

function readObject(asked: Asked, left: Left, fields: Fields): Decoded<Answer> {
  const answer = readAnswer(asked, fields);
  if (left.failure === undefined || answer.verdict !== 'allow' || isAnswer(fields)) return decoded(answer);
  return readBadExit(asked, left.failure, left);
}

function readAnswer(asked: Asked, fields: Fields): Answer {
  const { point } = asked.question;
  const context = contextsOf(fields);
  const halt = discontinuedBy(fields) ?? preventedBy(fields);
  const error = blockingErrorOf(fields);
  if (halt !== undefined)
    return answers.abort(halt.reason ?? 'Hook prevented continuation', 'turn', { context });
  if (error !== undefined && point === 'PostToolUseFailure') return answers.abort(error, 'turn', { context });
  if (error !== undefined) return blocked('[Blocked by hook]', error, { context });
  // Claude's block undoes nothing here: its reason stands beside the result.
  const reason = decisionOf(fields) === 'block' ? textOf(fields, 'reason') : undefined;
  const beside = { context: reason === undefined ? context : [...context, reason] };
  const output = outputOf(asked, fields);
  return output === undefined ? answers.allow(beside) : answers.modify({ content: output }, beside);
}

/**
 * What is to stand in the result's place. Throws REPLY_MALFORMED when it is neither a text nor of the result's own
 * type: it may be a redaction, so the original must not pass for it.
 */
function outputOf({ question }: Asked, { body, specific }: Fields): string | undefined {
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
    const { value } = json;
    if (Array.isArray(value)) return 'array';
    return value === null ? 'null' : typeof value;
  } catch {
    return undefined;
  }
}

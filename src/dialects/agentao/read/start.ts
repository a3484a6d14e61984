import { type Answer, answers } from '../../../contract/hook.ts';
import { toRuntimeError } from '../../../errors.ts';
import { type Body, excerpt } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { readBadExit } from '../failure.ts';
import {
  blockingErrorOf,
  contextsOf,
  decisionOf,
  discontinuedBy,
  preventedBy,
  readFields,
} from '../fields.ts';
import type { Asked } from '../record.ts';
import type { Left } from '../reply.ts';
import { readText } from './after.ts';

/** SessionStart: context is taken, and nothing that a rule says stops the turn. */
export function readStart(asked: Asked, left: Left): Decoded<Answer> {
  const { body, failure } = left;
  if (body === undefined) return readText(asked, left);
  const { context, remark } = readSaid(body);
  if (context.length === 0 && failure !== undefined) return readBadExit(asked, failure, left);
  return decoded(
    answers.allow({ context }),
    remark === undefined ? [] : [{ level: 'warn', message: remark }],
  );
}

interface Start {
  readonly context: readonly string[];
  /** On what was said to no effect. */
  readonly remark?: string;
}

function readSaid(body: Body): Start {
  try {
    const fields = readFields(body);
    const context = contextsOf(fields);
    const stops = [
      decisionOf(fields) === 'block',
      discontinuedBy(fields),
      preventedBy(fields),
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

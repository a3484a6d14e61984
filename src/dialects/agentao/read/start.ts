import { type Answer, answers } from '../../../contract/hook.ts';
import { toRuntimeError } from '../../../errors.ts';
import { type Body, excerpt } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { readExitFailure } from '../failure.ts';
import type { ProcessOutput } from '../process-output.ts';
import {
  blockingErrorOf,
  contextsOf,
  continueFalseOf,
  decisionOf,
  preventContinuationOf,
  readFields,
} from '../reply-fields.ts';
import type { HookQuestion } from '../rule-result.ts';
import { readText } from './after-tool.ts';

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
  /** A warning about members without effect. */
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

import { type Answer, answers } from '../../../contract/hook.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { readBadExit } from '../failure.ts';
import {
  blockingErrorOf,
  contextsOf,
  decisionOf,
  discontinuedBy,
  type Fields,
  preventedBy,
  readFields,
  textOf,
} from '../fields.ts';
import { type Asked, attach } from '../record.ts';
import type { Left } from '../reply.ts';
import { blocked, metadataOf, type Said } from '../said.ts';

/** UserPromptSubmit: blocks, stops, or adds text to the prompt; the exit code counts only without any output. */
export function readPrompt(asked: Asked, left: Left): Decoded<Answer> {
  const { text, body, failure } = left;
  if (body !== undefined) return decoded(readAnswer(asked, readFields(body)));
  if (text !== '') return decoded(addContext(asked, text));
  if (failure !== undefined) return readBadExit(asked, failure, left);
  return decoded(answers.allow({ metadata: metadataOf({ messages: [attach(asked, 'hook_success', {})] }) }));
}

/** One text for the model, on record; `source` names a rule that runs no process. */
export function addContext(asked: Asked, text: string, source?: string): Answer {
  const payload = { context: text, ...(source !== undefined && { source }) };
  const messages = [attach(asked, 'hook_additional_context', payload)];
  return answers.allow({
    context: [text],
    metadata: metadataOf({ additional_contexts: [text], messages }),
  });
}

/** A deny or a stop in any spelling comes before contexts, which are then recorded only. */
function readAnswer(asked: Asked, fields: Fields): Answer {
  const contexts = contextsOf(fields);
  const recorded = { additional_contexts: contexts };
  // Both are read before either counts: an unknown word beside a verdict is a verdict that nobody understands.
  const decision = decisionOf(fields);
  const halt = preventedBy(fields) ?? discontinuedBy(fields);
  const error = blockingErrorOf(fields) ?? (decision === 'block' ? blockReasonOf(fields) : undefined);
  if (error !== undefined) return block(asked, error, recorded);
  if (halt !== undefined) return stop(asked, halt.reason ?? 'Hook prevented continuation', recorded);
  const record =
    contexts.length > 0
      ? attach(asked, 'hook_additional_context', { context: contexts.length === 1 ? contexts[0] : contexts })
      : attach(asked, 'hook_success', fields.body.json);
  return answers.allow({ context: contexts, metadata: metadataOf({ ...recorded, messages: [record] }) });
}

function blockReasonOf(fields: Fields): string {
  return textOf(fields, 'reason') ?? 'the hook gave no reason';
}

function block(asked: Asked, error: string, recorded: Said): Answer {
  const messages = [attach(asked, 'hook_blocking_error', { error })];
  return blocked('[Blocked by hook]', error, { said: { ...recorded, blocking_error: error, messages } });
}

function stop(asked: Asked, reason: string, recorded: Said): Answer {
  const messages = [attach(asked, 'hook_stopped_continuation', { reason })];
  const said: Said = { ...recorded, prevent_continuation: true, stop_reason: reason, messages };
  return blocked('[Hook stopped]', reason, { said });
}

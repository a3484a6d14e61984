import { type Answer, answers } from '../../../contract/hook.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { readExitFailure } from '../failure.ts';
import type { ProcessOutput } from '../process-output.ts';
import {
  blockingErrorOf,
  contextsOf,
  continueFalseOf,
  decisionOf,
  noReason,
  preventContinuationOf,
  type ReplyFields,
  readFields,
  textOf,
} from '../reply-fields.ts';
import {
  attach,
  denyWithError,
  denyWithMarker,
  type HookQuestion,
  metadataOf,
  type RuleResult,
  recordReply,
} from '../rule-result.ts';

/** Decodes a reply at UserPromptSubmit. The exit code counts only when nothing was printed. */
export function readPrompt(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { body } = processOutput;
  return body === undefined ? readPlain(asked, processOutput) : decoded(readAnswer(asked, readFields(body)));
}

/** Decodes what is no object where text is context for the model, and a failed exit counts without one only. */
export function readPlain(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { text, failure } = processOutput;
  if (text !== '') return decoded(addContext(asked, text));
  if (failure !== undefined) return readExitFailure(asked, failure);
  return decoded(answers.allow({ metadata: metadataOf({ messages: [attach(asked, 'hook_success', {})] }) }));
}

/** An allow with one context text and its attachment record; `source` marks a rule without a process. */
export function addContext(asked: HookQuestion, text: string, source?: string): Answer {
  const payload = { context: text, ...(source !== undefined && { source }) };
  const messages = [attach(asked, 'hook_additional_context', payload)];
  return answers.allow({
    context: [text],
    metadata: metadataOf({ additional_contexts: [text], messages }),
  });
}

/** A deny or stop in any spelling wins over contexts, which are then only recorded. */
function readAnswer(asked: HookQuestion, fields: ReplyFields): Answer {
  const contexts = contextsOf(fields);
  const recorded = { additional_contexts: contexts };
  // Both are read before either counts, so that an unknown verdict throws even beside a known one.
  const decision = decisionOf(fields);
  const halt = preventContinuationOf(fields) ?? continueFalseOf(fields);
  const error =
    blockingErrorOf(fields) ?? (decision === 'block' ? (textOf(fields, 'reason') ?? noReason) : undefined);
  if (error !== undefined) return denyWithError(asked, error, { result: recorded });
  if (halt !== undefined) return stop(asked, halt.reason ?? 'Hook prevented continuation', recorded);
  const messages = [recordReply(asked, fields.body.json, contexts)];
  return answers.allow({ context: contexts, metadata: metadataOf({ ...recorded, messages }) });
}

function stop(asked: HookQuestion, reason: string, recorded: RuleResult): Answer {
  const messages = [attach(asked, 'hook_stopped_continuation', { reason })];
  const result: RuleResult = { ...recorded, prevent_continuation: true, stop_reason: reason, messages };
  return denyWithMarker('[Hook stopped]', reason, { result });
}

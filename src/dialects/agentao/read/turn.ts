import { type Answer, answers } from '../../../contract/hook.ts';
import { nonNull } from '../../body.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import type { ProcessOutput } from '../process-output.ts';
import {
  blockingErrorOf,
  contextsOf,
  continueFalseOf,
  decisionOf,
  isAnyTrue,
  noReason,
  preventContinuationOf,
  type ReplyFields,
  readFields,
  stopReasonOf,
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
  recordReply,
} from '../rule-result.ts';

/** Decodes a reply at UserPromptSubmit. The exit code counts only when nothing was printed. */
export function readPrompt(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { body } = processOutput;
  return body === undefined
    ? readPlain(asked, processOutput)
    : decoded(readPromptAnswer(asked, readFields(body)));
}

/** Decodes what is no object where text is context for the model, and a failed exit counts without one only. */
function readPlain(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
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
function readPromptAnswer(asked: HookQuestion, fields: ReplyFields): Answer {
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

/**
 * Decodes a reply at Stop: forces a further turn, withholds the answer or adds text. Exit code 2 comes first.
 */
export function readStop(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { body, exitCode, stderr } = processOutput;
  if (exitCode === 2) {
    const reason = stderr === '' ? 'Stop hook blocked via exit 2' : stderr;
    return forceTurn(asked, { followUp: reason, reason, via: 'exit2' }, {});
  }
  return body === undefined ? readPlain(asked, processOutput) : readStopAnswer(asked, readFields(body));
}

function readStopAnswer(asked: HookQuestion, fields: ReplyFields): Decoded<Answer> {
  const result = readResult(fields);
  const decision = decisionOf(fields);
  const endsTurn = continueFalseOf(fields) !== undefined;
  const error = blockingErrorOf(fields);
  if (error !== undefined) {
    return decoded(denyWithError(asked, error, { marker: '[Blocked by Stop hook]', result }));
  }
  const wanted = forcedTurnIn(fields, decision);
  if (wanted !== undefined && !endsTurn) return forceTurn(asked, wanted, result);
  const contexts = result.additional_contexts ?? [];
  const messages = [recordReply(asked, fields.body.json, contexts)];
  const reason = wanted?.reason === undefined ? {} : { stop_reason: result.stop_reason ?? wanted.reason };
  const metadata = metadataOf({ ...result, ...reason, messages });
  return decoded(answers.allow({ context: contexts, metadata }), noteOnBlock(fields, decision));
}

function readResult(fields: ReplyFields): RuleResult {
  const system_message = textOf(fields, 'systemMessage', 'system_message');
  return {
    additional_contexts: [...(system_message === undefined ? [] : [system_message]), ...contextsOf(fields)],
    stop_reason: stopReasonOf(fields),
    system_message,
    suppress_output: isAnyTrue(fields, 'suppressOutput', 'suppress_output') || undefined,
  };
}

interface ForcedTurn {
  readonly followUp: string;
  readonly reason: string;
  readonly via?: string;
}

function forcedTurnIn(
  fields: ReplyFields,
  decision: 'block' | 'approve' | undefined,
): ForcedTurn | undefined {
  const stopReason = stopReasonOf(fields);
  const reason = nonNull(fields.body.get('reason'))?.value;
  const message = textOf(fields, 'follow_up_message', 'followUpMessage');
  const stock = 'Stop hook requested continuation';
  const isPrevented =
    isAnyTrue(fields, 'preventContinuation', 'prevent_continuation') ||
    fields.records.some(({ type }) => type === 'hook_stopped_continuation');
  if (isPrevented && stopReason !== undefined) return { followUp: stopReason, reason: stopReason };
  if (decision === 'block' && typeof reason === 'string') {
    const text = reason === '' ? (stopReason ?? stock) : reason;
    return { followUp: text, reason: text };
  }
  if (isAnyTrue(fields, 'force_continue', 'forceContinue')) {
    return { followUp: message ?? stopReason ?? stock, reason: stopReason ?? message ?? stock };
  }
  return isPrevented ? { followUp: stock, reason: 'Hook prevented continuation' } : undefined;
}

/** Forces a further turn; past the cap the turn ends with its answer, and a warning says why. */
function forceTurn(
  { entry, question }: HookQuestion,
  wanted: ForcedTurn,
  result: RuleResult,
): Decoded<Answer> {
  const { followUp, reason, via } = wanted;
  const asked = { entry, question };
  const payload = { reason, ...(via !== undefined && { via }) };
  const messages = [attach(asked, 'hook_stopped_continuation', payload)];
  const metadata = metadataOf({
    ...result,
    force_continue: true,
    follow_up_message: followUp,
    stop_reason: reason,
    messages,
  });
  const beside = { reason, metadata };
  const why = whyOverridden(asked);
  if (why === undefined) return decoded(answers.modify({ follow_up: followUp }, beside));
  return decoded(answers.modify({}, beside), [{ level: 'warn', message: `${why}: the answer stands` }]);
}

function whyOverridden({ entry, question: { hookContext } }: HookQuestion): string | undefined {
  const cap = entry.settings.stopReentryCap;
  if (hookContext.forcedTurns >= cap) {
    return `it made the turn go on ${cap} times, which is \`agentao.stop_reentry_cap\``;
  }
  return hookContext.isLastRound === true ? 'it would make the turn go on, and no round is left' : undefined;
}

function noteOnBlock(fields: ReplyFields, decision: 'block' | 'approve' | undefined): Note[] {
  if (decision !== 'block' || typeof nonNull(fields.body.get('reason'))?.value === 'string') return [];
  return [{ level: 'warn', message: 'its `decision: block` has no reason, so the turn ends' }];
}

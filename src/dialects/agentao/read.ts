import { toRuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { type Body, excerpt, malformed, nonNull } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import { textAt, typeOf } from '../payload-table.ts';
import { dataOf } from './complete.ts';
import { holdsNonFinite, type ProcessOutput } from './process-output.ts';
import {
  blockingErrorOf,
  contextsOf,
  continueFalseOf,
  decisionOf,
  hasAnswer,
  isAnyTrue,
  noReason,
  preventContinuationOf,
  type ReplyFields,
  readFields,
  specificTextOf,
  stopReasonOf,
  textOf,
} from './reply-fields.ts';
import {
  attach,
  denyWithError,
  denyWithMarker,
  type HookQuestion,
  metadataOf,
  type RuleResult,
  readExitFailure,
  recordReply,
} from './rule-result.ts';

/** An answer counts whatever the exit code. Without an answer, a non-zero exit code is a failure. */
export function readTool(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { text, body, failure } = processOutput;
  if (body === undefined) {
    // Text is recorded but not passed to the model.
    const result =
      text === ''
        ? { messages: [attach(asked, 'hook_success', {})] }
        : {
            additional_contexts: [text],
            messages: [attach(asked, 'hook_additional_context', { context: text })],
          };
    if (failure !== undefined) return readExitFailure(asked, failure, result);
    return decoded(answers.allow({ metadata: metadataOf(result) }));
  }
  const fields = readFields(body);
  const answer = readAnswer(asked, fields);
  const isAnswered = hasAnswer(fields) || permissionOf(fields) !== undefined || inputOf(fields) !== undefined;
  return isAnswered || failure === undefined ? decoded(answer) : readExitFailure(asked, failure);
}

function readAnswer(asked: HookQuestion, fields: ReplyFields): Answer {
  const contexts = contextsOf(fields);
  const permission = permissionOf(fields);
  const decision = decisionOf(fields);
  const halt = continueFalseOf(fields) ?? preventContinuationOf(fields);
  const reason = reasonOf(fields);
  const messages = [attach(asked, 'hook_success', fields.body.json)];
  const recorded = { additional_contexts: contexts, messages };
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
  // A deferred call does not run now, so its context and new arguments are dropped.
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

function inputOf({ body, specific }: ReplyFields): Json | undefined {
  const input = nonNull(specific?.get('updatedInput')) ?? nonNull(body.get('updatedInput'));
  if (input === undefined) return undefined;
  if (!isObject(input.value)) {
    throw malformed(`the reply's \`updatedInput\` is not an object: ${excerpt(input.text)}`);
  }
  if (holdsNonFinite(input.value))
    throw malformed("the reply's `updatedInput` has a number that JSON does not allow");
  return input;
}

function reasonOf(fields: ReplyFields): string | undefined {
  return specificTextOf(fields, 'permissionDecisionReason', 'reason') ?? textOf(fields, 'reason');
}

/** JSON counts. Plain text is only logged. */
export function readAfter(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { body, failure } = processOutput;
  if (body === undefined) return readText(asked, processOutput);
  const fields = readFields(body);
  const answer = readAfterToolAnswer(asked, fields);
  const isAnswered = answer.verdict !== 'allow' || hasAnswer(fields);
  return failure === undefined || isAnswered ? decoded(answer) : readExitFailure(asked, failure);
}

function readText(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { text, failure } = processOutput;
  if (failure !== undefined) return readExitFailure(asked, failure);
  const message = `it said: ${excerpt(text)}`;
  return decoded(answers.allow(), text === '' ? [] : [{ level: 'debug', message }]);
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
  // Agentao cannot undo the call for Claude's block, so the reason is added to the result.
  const reason = decisionOf(fields) === 'block' ? textOf(fields, 'reason') : undefined;
  const extras = { context: reason === undefined ? context : [...context, reason] };
  const output = outputOf(asked, fields);
  return output === undefined ? answers.allow(extras) : answers.modify({ content: output }, extras);
}

/**
 * Throws REPLY_MALFORMED if the new output is neither a text nor of the result's type. It may be a redaction, so the
 * original must not pass.
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

/** Only context counts at SessionStart. Nothing stops the turn. */
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

function readContext(body: Body): { readonly context: readonly string[]; readonly remark?: string } {
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
      ? { context, remark: `SessionStart cannot stop anything: ${excerpt(body.json.text)} has no effect` }
      : { context };
  } catch (thrown) {
    return { context: [], remark: `SessionStart takes context only: ${toRuntimeError(thrown).message}` };
  }
}

export function readPrompt(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { body } = processOutput;
  return body === undefined
    ? readPlain(asked, processOutput)
    : decoded(readPromptAnswer(asked, readFields(body)));
}

function readPlain(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  const { text, failure } = processOutput;
  if (text !== '') return decoded(addContext(asked, text));
  if (failure !== undefined) return readExitFailure(asked, failure);
  return decoded(answers.allow({ metadata: metadataOf({ messages: [attach(asked, 'hook_success', {})] }) }));
}

/** Allows with one context text and its attachment record. `source` marks a rule without a process. */
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
  // Read both before using either, so that an unknown verdict throws even beside a known one.
  const decision = decisionOf(fields);
  const halt = preventContinuationOf(fields) ?? continueFalseOf(fields);
  const error =
    blockingErrorOf(fields) ?? (decision === 'block' ? (textOf(fields, 'reason') ?? noReason) : undefined);
  if (error !== undefined) return denyWithError(asked, error, { result: recorded });
  if (halt !== undefined) {
    const reason = halt.reason ?? 'Hook prevented continuation';
    const messages = [attach(asked, 'hook_stopped_continuation', { reason })];
    const result = { ...recorded, prevent_continuation: true, stop_reason: reason, messages } as const;
    return denyWithMarker('[Hook stopped]', reason, { result });
  }
  const messages = [recordReply(asked, fields.body.json, contexts)];
  return answers.allow({ context: contexts, metadata: metadataOf({ ...recorded, messages }) });
}

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
  return decoded(answers.modify({}, beside), [{ level: 'warn', message: `${why}: the answer is final` }]);
}

function whyOverridden({ entry, question: { hookContext } }: HookQuestion): string | undefined {
  const cap = entry.settings.stopReentryCap;
  if (hookContext.forcedTurns >= cap) {
    return `it continued the turn ${cap} times, which is \`agentao.stop_reentry_cap\``;
  }
  return hookContext.isLastRound === true ? 'it would continue the turn, but no round is left' : undefined;
}

function noteOnBlock(fields: ReplyFields, decision: 'block' | 'approve' | undefined): Note[] {
  if (decision !== 'block' || typeof nonNull(fields.body.get('reason'))?.value === 'string') return [];
  return [{ level: 'warn', message: 'its `decision: block` has no reason, so the turn ends' }];
}

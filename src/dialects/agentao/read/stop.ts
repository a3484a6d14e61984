import { type Answer, answers } from '../../../contract/hook.ts';
import { present } from '../../body.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import { readBadExit } from '../failure.ts';
import {
  blockingErrorOf,
  contextsOf,
  decisionOf,
  discontinuedBy,
  type Fields,
  readFields,
  saysTrue,
  stopReasonOf,
  textOf,
} from '../fields.ts';
import { type Asked, attach } from '../record.ts';
import type { Left } from '../reply.ts';
import { blocked, metadataOf, type Said } from '../said.ts';
import { addContext } from './prompt.ts';

/** Stop: may force one more model call, withhold the answer, or add text to it. Exit code 2 comes before all else. */
export function readStop(asked: Asked, left: Left): Decoded<Answer> {
  const { text, body, exitCode, failure, stderr } = left;
  if (exitCode === 2) {
    const reason = stderr === '' ? 'Stop hook blocked via exit 2' : stderr;
    return force(asked, { followUp: reason, reason, via: 'exit2' }, {});
  }
  if (body !== undefined) return readAnswer(asked, readFields(body));
  if (text !== '') return decoded(addContext(asked, text));
  if (failure !== undefined) return readBadExit(asked, failure, left);
  return decoded(answers.allow({ metadata: metadataOf({ messages: [attach(asked, 'hook_success', {})] }) }));
}

function readAnswer(asked: Asked, fields: Fields): Decoded<Answer> {
  const said = readSaid(fields);
  const decision = decisionOf(fields);
  const isLetGo = discontinuedBy(fields) !== undefined;
  const error = blockingErrorOf(fields);
  if (error !== undefined) return decoded(withhold(asked, error, said));
  const wanted = forceIn(fields, decision);
  if (wanted !== undefined && !isLetGo) return force(asked, wanted, said);
  const contexts = said.additional_contexts ?? [];
  const messages = [
    contexts.length > 0
      ? attach(asked, 'hook_additional_context', { context: contexts.length === 1 ? contexts[0] : contexts })
      : attach(asked, 'hook_success', fields.body.json),
  ];
  const reason = wanted?.reason === undefined ? {} : { stop_reason: said.stop_reason ?? wanted.reason };
  const metadata = metadataOf({ ...said, ...reason, messages });
  return decoded(answers.allow({ context: contexts, metadata }), noteOnBlock(fields, decision));
}

function readSaid(fields: Fields): Said {
  const system_message = textOf(fields, 'systemMessage', 'system_message');
  return {
    additional_contexts: [...(system_message === undefined ? [] : [system_message]), ...contextsOf(fields)],
    stop_reason: stopReasonOf(fields),
    system_message,
    suppress_output: saysTrue(fields, 'suppressOutput', 'suppress_output') || undefined,
  };
}

/** What a rule wants the model to be told before it goes on. */
interface Force {
  readonly followUp: string;
  readonly reason: string;
  readonly via?: string;
}

function forceIn(fields: Fields, decision: 'block' | 'approve' | undefined): Force | undefined {
  const stopReason = stopReasonOf(fields);
  const reason = present(fields.body.get('reason'))?.value;
  const message = textOf(fields, 'follow_up_message', 'followUpMessage');
  const stock = 'Stop hook requested continuation';
  const isPrevented =
    saysTrue(fields, 'preventContinuation', 'prevent_continuation') ||
    fields.records.some(({ type }) => type === 'hook_stopped_continuation');
  if (isPrevented && stopReason !== undefined) return { followUp: stopReason, reason: stopReason };
  if (decision === 'block' && typeof reason === 'string') {
    const text = reason === '' ? (stopReason ?? stock) : reason;
    return { followUp: text, reason: text };
  }
  if (saysTrue(fields, 'force_continue', 'forceContinue')) {
    return { followUp: message ?? stopReason ?? stock, reason: stopReason ?? message ?? stock };
  }
  return isPrevented ? { followUp: stock, reason: 'Hook prevented continuation' } : undefined;
}

/** Past the cap the turn ends with its answer; the rules after this one are not asked either way. */
function force({ seat, question }: Asked, wanted: Force, said: Said): Decoded<Answer> {
  const { followUp, reason, via } = wanted;
  const asked = { seat, question };
  const payload = { reason, ...(via !== undefined && { via }) };
  const messages = [attach(asked, 'hook_stopped_continuation', payload)];
  const metadata = metadataOf({
    ...said,
    force_continue: true,
    follow_up_message: followUp,
    stop_reason: reason,
    messages,
  });
  const beside = { reason, metadata };
  const why = whyDropped(asked);
  if (why === undefined) return decoded(answers.modify({ follow_up: followUp }, beside));
  return decoded(answers.modify({}, beside), [{ level: 'warn', message: `${why}: the answer stands` }]);
}

function whyDropped({ seat, question: { scene } }: Asked): string | undefined {
  const cap = seat.settings.stopReentryCap;
  if (scene.stops >= cap) {
    return `it made the turn go on ${cap} times, which is \`agentao.stop_reentry_cap\``;
  }
  return scene.isLastRound === true ? 'it would make the turn go on, and no round is left' : undefined;
}

function withhold(asked: Asked, error: string, said: Said): Answer {
  const messages = [attach(asked, 'hook_blocking_error', { error })];
  return blocked('[Blocked by Stop hook]', error, { said: { ...said, blocking_error: error, messages } });
}

function noteOnBlock(fields: Fields, decision: 'block' | 'approve' | undefined): Note[] {
  if (decision !== 'block' || typeof present(fields.body.get('reason'))?.value === 'string') return [];
  return [{ level: 'warn', message: 'its `decision: block` has no reason, so the turn ends' }];
}

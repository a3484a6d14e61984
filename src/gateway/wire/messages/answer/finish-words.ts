import { unwritable } from '../../faults.ts';

/** The native word for why an answer ended; the API's own where there is none. */
export function finishWord(stopReason: string | undefined): string {
  if (stopReason === undefined) return '';
  return (Object.hasOwn(nativeWords, stopReason) ? nativeWords[stopReason] : undefined) ?? stopReason;
}

/** Whether it is a word of the API: the `StopReason` and `BetaStopReason` of @anthropic-ai/sdk 1.12. */
export function isStopReason(word: string): boolean {
  return stopReasons.has(word);
}

const stopReasons: ReadonlySet<string> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'compaction',
  'refusal',
  'model_context_window_exceeded',
]);

const nativeWords: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'max_output_tokens',
};

/** The API's word for a reason that a hook has given. Throws REPLY_MALFORMED. */
export function stopReasonOf(word: unknown): string {
  const reason = typeof word === 'string' && Object.hasOwn(reasons, word) ? reasons[word] : undefined;
  if (reason === undefined)
    throw unwritable('a replaced message has a `finish_reason` that the API does not know');
  return reason;
}

const reasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  max_output_tokens: 'max_tokens',
  tool_use: 'tool_use',
  refusal: 'refusal',
  safety: 'refusal',
  pause_turn: 'pause_turn',
};

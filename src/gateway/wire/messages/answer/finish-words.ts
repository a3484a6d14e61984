import { unwritable } from '../../faults.ts';

/** The native word for why an answer ended; the API's own where there is none. */
export function finishWord(stopReason: string | undefined): string {
  if (stopReason === undefined) return '';
  return nativeWords[stopReason] ?? stopReason;
}

const nativeWords: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'max_output_tokens',
};

/** The API's word for a reason that a hook has given. Throws REPLY_MALFORMED. */
export function stopReasonOf(word: unknown): string {
  const reason = typeof word === 'string' ? reasons[word] : undefined;
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

import type { TokenUsage } from '../wire/codec.ts';
import type { AnswerRecord, RecordedAnswer } from './answer-record.ts';
import { watchUsage } from './usage.ts';

/** Looks at a stream that goes by unjudged. */
export interface StreamWatch {
  /** Takes the next bytes; whether the event that ends an answer is complete with them. */
  push(piece: Uint8Array): boolean;
  usage(): TokenUsage | undefined;
  /** All that went by; undefined where nobody records it. */
  end(): RecordedAnswer | undefined;
}

/** Looks for figures and for the end of an answer, and records it. */
export function watchStream(record: AnswerRecord | undefined): StreamWatch {
  const decoder = new TextDecoder();
  let line = '';
  const figures = watchUsage();
  let isLastEvent = false;
  const take = (each: string): boolean => {
    if (each.startsWith('data:')) figures.see(each.slice(5));
    const isOver = isLastEvent && each === '';
    isLastEvent = each !== '' && (isLastEvent || lastEvent.test(each));
    return isOver;
  };
  return {
    push: (piece) => {
      record?.push(piece);
      const text = decoder.decode(piece, { stream: true });
      if (!lineEnd.test(text)) {
        // A line without an end is none that tells anything.
        if (line.length < LONGEST_LINE) line += text;
        return false;
      }
      const lines = (line + text).split(/\r\n|\r|\n/);
      line = lines.pop() ?? '';
      return lines.map(take).includes(true);
    },
    usage: figures.total,
    end: () => record?.end(),
  };
}

const lineEnd = /[\r\n]/;
/** How the streams of chat, Messages and Responses begin their last event. */
const lastEvent = /^(?:data: ?\[DONE\]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed))$)/;
const LONGEST_LINE = 16 * 1024 * 1024;

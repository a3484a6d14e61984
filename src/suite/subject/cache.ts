import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { isObject, parseLossless, stringifyJson } from '../../json/json.ts';
import type { ResultStore } from '../../store/results.ts';
import { digestFiles } from './digest-files.ts';
import type { Made, Question, Source } from './source.ts';

/** Answers that were made before, by all that made them. */
export interface AnswerCache {
  /** Where the answer to this question, in this epoch, is kept. */
  at(
    question: Question,
    epoch: number,
  ): {
    /** Throws STORE_FAILED. */
    find(): Made | undefined;
    /** Throws STORE_FAILED. */
    keep(answer: Made): void;
  };
}

/** What answers is looked at once: a script that is changed while a suite runs is another one in its next run. */
export function openCache(
  store: Pick<ResultStore, 'findAnswer' | 'keepAnswer'>,
  source: Source,
  replay: string | undefined,
): AnswerCache {
  // A recording may answer in the place of everything else.
  const recording = replay === undefined ? [] : digestFiles([resolve(replay)], '');
  const identity = digest([FORMAT, source.identify(), recording]);
  return {
    at: ({ key }, epoch) => {
      const place = digest([identity, key, epoch]);
      return {
        find: () => {
          const text = store.findAnswer(place);
          return text === undefined ? undefined : readAnswer(text);
        },
        keep: ({ text, result, messages, tool_calls, metadata }) =>
          store.keepAnswer(place, stringifyJson({ text, result, messages, tool_calls, metadata })),
      };
    },
  };
}

/** Of what is kept, and of what goes into a key. */
const FORMAT = 1;

function digest(parts: unknown): string {
  return createHash('sha256').update(stringifyJson(parts)).digest('hex');
}

/** Undefined for what this module has not written. */
function readAnswer(text: string): Made | undefined {
  const value = parseLossless(text);
  const isOurs = isObject(value) && typeof value['text'] === 'string' && Array.isArray(value['messages']);
  return isOurs ? (value as unknown as Made) : undefined;
}

import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { stringifyJson } from '../../base/json/json.ts';
import { text as anyText, anything, fits, members } from '../../base/json/shape.ts';
import { tryParseLossless } from '../../base/json/try-parse.ts';
import type { ResultStore } from '../../store/result-store.ts';
import { conversation } from '../run/record-shapes.ts';
import type { SubjectAdapter, SubjectOutput, SubjectRequest } from './adapter.ts';
import { digestFiles } from './file-digests.ts';

/** Stored answers, found by a digest of everything that determines them. */
export interface AnswerCache {
  /** The entry of the answer to this request in this epoch. */
  entryFor(
    question: SubjectRequest,
    epoch: number,
  ): {
    /** Rejects with STORE_FAILED. */
    find(): Promise<SubjectOutput | undefined>;
    /** Rejects with STORE_FAILED. */
    keep(answer: SubjectOutput): Promise<void>;
  };
}

/**
 * Opens the cache of a subject. Its config and files are digested once, here; later changes count from the
 * next run.
 */
export function openCache(
  store: Pick<ResultStore, 'findAnswer' | 'keepAnswer'>,
  adapter: SubjectAdapter,
  replay: string | undefined,
): AnswerCache {
  // With --replay the answers depend on the recording, too.
  const recordingDigests = replay === undefined ? [] : digestFiles([resolve(replay)], '');
  const identity = digest([FORMAT_VERSION, adapter.identify(), recordingDigests]);
  return {
    entryFor: ({ key }, epoch) => {
      const entryKey = digest([identity, key, epoch]);
      return {
        find: async () => {
          const text = await store.findAnswer(entryKey);
          return text === undefined ? undefined : readAnswer(text);
        },
        keep: async ({ text, result, messages, tool_calls, metadata }) =>
          await store.keepAnswer(entryKey, stringifyJson({ text, result, messages, tool_calls, metadata })),
      };
    },
  };
}

/** The version of stored answers and of their keys. */
const FORMAT_VERSION = 1;

function digest(parts: unknown): string {
  return createHash('sha256').update(stringifyJson(parts)).digest('hex');
}

/** Reads a stored answer; undefined for text that is none, so that the answer is made anew. */
function readAnswer(text: string): SubjectOutput | undefined {
  const value = tryParseLossless(text);
  return fits(storedAnswer, value) ? value : undefined;
}

/** A failure is never kept. */
const storedAnswer = members<Omit<SubjectOutput, 'error'>>({
  text: anyText,
  result: anything,
  ...conversation,
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { isObject } from '../base/json/json.ts';
import { shorten } from '../base/text/phrases.ts';

/** How far a tool call is. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export type OnProgress = (progress: Progress) => void;

/** Hooks, approvals and runs between a call and its process need not know of it. */
const listeners = new AsyncLocalStorage<OnProgress | undefined>();

export function withProgress<Result>(onProgress: OnProgress | undefined, work: () => Result): Result {
  return onProgress === undefined ? work() : listeners.run(onProgress, work);
}

export function currentProgress(): OnProgress | undefined {
  return listeners.getStore();
}

/** The params of a server's `progress` notification; undefined if they are not valid. */
export function readProgress(
  params: unknown,
  redact: (text: string) => string,
): { readonly id: number; readonly progress: Progress } | undefined {
  const { id, progress, total, message } = isObject(params) ? params : {};
  if (typeof id !== 'number' || !Number.isFinite(progress)) return undefined;
  return {
    id,
    progress: {
      progress: Number(progress),
      ...(Number.isFinite(total) && { total: Number(total) }),
      ...(typeof message === 'string' && { message: shorten(redact(message), LONGEST_MESSAGE) }),
    },
  };
}

const LONGEST_MESSAGE = 1_000;

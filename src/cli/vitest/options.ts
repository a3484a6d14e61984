import { RuntimeError } from '../../base/errors.ts';
import type { Selection, SuiteRunOptions } from '../../runtime/runtime.ts';

/** How a suite becomes tests. */
export interface DescribeSuiteOptions
  extends Pick<SuiteRunOptions, 'epochs' | 'retries' | 'dataset' | 'cache'> {
  /** Which of the cases become tests. */
  readonly select?: Omit<Selection, 'rows'> | undefined;
  /** The RuntimeConfig. Default: the one that the suite names, or `runtime.yaml`. */
  readonly config?: string | undefined;
  /** Files that are laid over it, in this order: what they say wins. */
  readonly overlays?: readonly string[] | undefined;
  /** Milliseconds for the whole run; cases that are not judged by then fail. Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
}

/** Reads the time that a run has, in milliseconds. Throws USAGE. */
export function readTimeout({ timeoutMs = 600_000 }: DescribeSuiteOptions): number {
  if (Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= maxTimeoutMs) return timeoutMs;
  throw new RuntimeError('USAGE', `timeoutMs is a whole number from 1 to ${maxTimeoutMs}, not ${timeoutMs}`);
}

/** The greatest delay of a timer of Node. */
const maxTimeoutMs = 2 ** 31 - 1;

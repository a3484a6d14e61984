import { RuntimeError } from '../../errors.ts';
import type { Selection, SuiteRunOptions } from '../../runtime/open-runtime.ts';

/** How a suite becomes tests. */
export interface DescribeSuiteOptions
  extends Pick<SuiteRunOptions, 'epochs' | 'retries' | 'dataset' | 'cache'> {
  /** Which of the cases become tests. */
  readonly select?: Omit<Selection, 'rows'> | undefined;
  /** The RuntimeConfig. Default: the one that the suite names, or `runtime.yaml`. */
  readonly config?: string | undefined;
  /** Milliseconds that the whole run may take; then what is not judged yet fails. Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
}

/** Reads the time that a run has, in milliseconds. Throws USAGE. */
export function readTimeout({ timeoutMs = 600_000 }: DescribeSuiteOptions): number {
  if (Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= longest) return timeoutMs;
  throw new RuntimeError('USAGE', `timeoutMs is a whole number from 1 to ${longest}, not ${timeoutMs}`);
}

/** What a timer of Node can wait. */
const longest = 2 ** 31 - 1;

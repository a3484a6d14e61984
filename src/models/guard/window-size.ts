import { RuntimeError } from '../../base/errors.ts';

/** Throws USAGE when a window is not a whole number from 1 on. */
export function requireWindow(windowChars: number | undefined): void {
  if (windowChars === undefined || (Number.isSafeInteger(windowChars) && windowChars > 0)) return;
  throw new RuntimeError('USAGE', `a guard's window is a whole number from 1 on, not ${windowChars}`);
}

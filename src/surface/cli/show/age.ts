import { RuntimeError } from '../../../errors.ts';

/** An age from an option, in milliseconds; zero takes whatever has ended. Throws USAGE. */
export async function readAge(option: string, value: string): Promise<number> {
  if (/^\+?(?:0+(?:\.0*)?(?:ms|s|m|h|d))+$/.test(value)) return 0;
  const { parseDuration } = await import('../../../runtime/runtime.ts');
  const ms = parseDuration(value);
  if (ms !== undefined) return ms;
  throw new RuntimeError('USAGE', `${option} takes a duration, not "${value}"`, {
    hint: 'Write it like 90s, 15m, 12h or 30d.',
  });
}

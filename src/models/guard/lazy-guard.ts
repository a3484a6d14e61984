import type { LanguageModelV4Middleware } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { once } from '../../base/time/async.ts';
import { requireSupportedVersion } from '../wrapped-model.ts';
import type { GuardOptions } from './guard.ts';
import { requireWindow } from './text-window.ts';

/** `createGuard`, loaded with the first guarded call. Throws USAGE like `createGuard`. */
export function lazyGuard(options: GuardOptions): LanguageModelV4Middleware {
  requireWindow(options.windowChars);
  const guard = once(async () => (await import('./guard.ts')).createGuard({ ...options, isGuarded: true }));
  return {
    specificationVersion: 'v4',
    overrideSupportedUrls: requireSupportedVersion,
    wrapGenerate: guard.method(({ wrapGenerate = unguarded }) => wrapGenerate),
    wrapStream: guard.method(({ wrapStream = unguarded }) => wrapStream),
  };
}

/** Never called: a guard wraps both ways of calling. */
function unguarded(): never {
  throw new RuntimeError('INTERNAL', 'the guard cannot guard this call');
}

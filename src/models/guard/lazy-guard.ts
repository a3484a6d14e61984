import type { LanguageModelV4Middleware } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { once } from '../../base/time/async.ts';
import { requireSupportedVersion } from '../wrapped-model.ts';
import type { GuardOptions } from './guard.ts';
import { requireWindow } from './text-window.ts';

/** `createGuard` whose parts are loaded with the first call that it guards. Throws USAGE as that does. */
export function lazyGuard(options: GuardOptions): LanguageModelV4Middleware {
  requireWindow(options.windowChars);
  const guard = once(async () => (await import('./guard.ts')).createGuard(options));
  return {
    specificationVersion: 'v4',
    overrideSupportedUrls: requireSupportedVersion,
    wrapGenerate: guard.method(({ wrapGenerate = unguarded }) => wrapGenerate),
    wrapStream: guard.method(({ wrapStream = unguarded }) => wrapStream),
  };
}

/** A guard wraps both ways of calling, so nothing ever gets here. */
function unguarded(): never {
  throw new RuntimeError('INTERNAL', 'the guard cannot guard this call');
}

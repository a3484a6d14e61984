import type { LanguageModelV4Middleware } from '@ai-sdk/provider';
import { RuntimeError } from '../../errors.ts';
import type { GuardOptions } from './guard.ts';
import { requireSupportedVersion } from './model-version.ts';
import { requireWindow } from './window-size.ts';

/** `createGuard` whose parts are loaded with the first call that it guards. Throws USAGE as that does. */
export function lazyGuard(options: GuardOptions): LanguageModelV4Middleware {
  requireWindow(options.windowChars);
  let loading: Promise<LanguageModelV4Middleware> | undefined;
  const load = () => {
    loading ??= import('./guard.ts').then(({ createGuard }) => createGuard(options));
    return loading;
  };
  return {
    specificationVersion: 'v4',
    overrideSupportedUrls: requireSupportedVersion,
    wrapGenerate: async (call) => {
      const { wrapGenerate = unguarded } = await load();
      return await wrapGenerate(call);
    },
    wrapStream: async (call) => {
      const { wrapStream = unguarded } = await load();
      return await wrapStream(call);
    },
  };
}

/** A guard wraps both ways of calling, so nothing ever gets here. */
function unguarded(): never {
  throw new RuntimeError('INTERNAL', 'the guard cannot guard this call');
}

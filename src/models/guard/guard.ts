import type { LanguageModelV4Middleware } from '@ai-sdk/provider';
import type { CallSettings } from './before-call.ts';
import type { Fire } from './guard-outcome.ts';
import { generateGuarded } from './guarded-generate.ts';
import { streamGuarded } from './guarded-stream-call.ts';
import { requireModelV4, requireSupportedVersion } from './model-version.ts';
import { requireWindow } from './window-size.ts';

export interface GuardOptions {
  /** Asks the hooks. */
  readonly fire: Fire;
  /** What hooks read as `provider_id`; the model's own by default. */
  readonly providerId?: string | undefined;
  /**
   * When streamed text is released: `hold`, the default, after after_call has decided on the whole answer;
   * `windowed` at once, except the last `windowChars` characters; filters see all text before its release.
   */
  readonly stream?: 'hold' | 'windowed' | undefined;
  /** UTF-16 units; 200 by default. */
  readonly windowChars?: number | undefined;
  /** Opens the model that a hook has named; absent: hooks cannot choose the model. */
  readonly select?: CallSettings['select'];
}

/**
 * A middleware for the AI SDK through which every call of a model passes the provider hooks. A denial is
 * thrown as DENIED, in a stream it is an error part; docs/guard.md says what else changes. Throws USAGE when
 * the window is not a whole number from 1 on, and for a model that is none of the AI SDK's specification v4.
 */
export function createGuard(options: GuardOptions): LanguageModelV4Middleware {
  const { fire, providerId, stream = 'hold', windowChars = 200, select } = options;
  requireWindow(windowChars);
  const window = stream === 'windowed' ? windowChars : undefined;
  return {
    specificationVersion: 'v4',
    overrideSupportedUrls: requireSupportedVersion,
    wrapGenerate: async ({ model, params }) => {
      requireModelV4(model);
      return generateGuarded({ model, params }, { fire, providerId, select, signal: params.abortSignal });
    },
    wrapStream: async ({ model, params }) => {
      requireModelV4(model);
      const settings = { fire, providerId, select, signal: params.abortSignal, windowChars: window };
      return streamGuarded({ model, params }, settings);
    },
  };
}

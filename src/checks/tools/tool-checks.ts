import type { Check } from '../check.ts';
import { toolArgs, toolArgsExcludedSession, toolArgsSession } from './call-args.ts';
import { toolsCalled, toolsCalledSession, toolsNotCalled, toolsNotCalledSession } from './called.ts';
import { toolCallChain } from './chain.ts';
import { noToolErrors, toolCallCount, toolEfficiency, toolNoRepeat } from './counts.ts';
import { invariantFieldsPreserved } from './invariant.ts';
import { toolResultHasMedia, toolResultMediaType } from './media.ts';
import { toolResultIncludes, toolResultMatches } from './results.ts';
import { toolAntiPattern, toolCallSequence } from './sequence.ts';
import { toolCallsWithArgs } from './with-args.ts';

/** Checks of the tool calls around an answer; they need nothing but the context. */
export const toolChecks: readonly Check[] = [
  toolsCalled,
  toolsNotCalled,
  toolArgs,
  toolCallsWithArgs,
  toolCallCount,
  toolCallSequence,
  toolCallChain,
  toolAntiPattern,
  toolNoRepeat,
  toolEfficiency,
  noToolErrors,
  toolResultIncludes,
  toolResultMatches,
  toolResultHasMedia,
  toolResultMediaType,
  toolsCalledSession,
  toolsNotCalledSession,
  toolArgsSession,
  toolArgsExcludedSession,
  invariantFieldsPreserved,
];

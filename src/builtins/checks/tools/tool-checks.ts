import type { Check } from '../check.ts';
import { toolArgs, toolArgsExcludedSession, toolArgsSession } from './call-args.ts';
import { toolCallChain } from './call-chain.ts';
import { noToolErrors, toolCallCount, toolEfficiency, toolNoRepeat } from './call-counts.ts';
import { toolResultIncludes, toolResultMatches } from './call-results.ts';
import { toolAntiPattern, toolCallSequence } from './call-sequence.ts';
import { toolsCalled, toolsCalledSession, toolsNotCalled, toolsNotCalledSession } from './called.ts';
import { invariantFieldsPreserved } from './preserved-arguments.ts';
import { toolResultHasMedia, toolResultMediaType } from './result-media.ts';
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

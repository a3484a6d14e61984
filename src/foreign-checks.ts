import type { Finding, ForeignChecks } from './config/foreign-checks.ts';
import { findMatcherFaults } from './protocol/agentao/matcher.ts';
import { findConditionFault } from './protocol/claude/condition.ts';
import { findMatcherFault } from './protocol/claude/matcher.ts';

/** What the dialects themselves have to say of entries before anything runs. */
export const foreignChecks: ForeignChecks = {
  claudeMatcher: (event, matcher) => errors(findMatcherFault(event, matcher)),
  claudeCondition: (rule) => errors(findConditionFault(rule)),
  agentaoMatcher: findMatcherFaults,
};

function errors(message: string | undefined): readonly Finding[] {
  return message === undefined ? [] : [{ severity: 'error', message }];
}

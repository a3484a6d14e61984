import type { Finding, ForeignChecks } from '../config/foreign-checks.ts';
import { findMatcherFaults } from '../dialects/agentao/matcher.ts';
import { findConditionFault } from '../dialects/claude/condition/condition.ts';
import { findMatcherFault } from '../dialects/claude/matcher.ts';

/** What the dialects themselves have to say of entries before anything runs. */
export const foreignChecks: ForeignChecks = {
  claudeMatcher: (event, matcher) => errors(findMatcherFault(event, matcher)),
  claudeCondition: (rule) => errors(findConditionFault(rule)),
  agentaoMatcher: findMatcherFaults,
};

function errors(message: string | undefined): readonly Finding[] {
  return message === undefined ? [] : [{ severity: 'error', message }];
}

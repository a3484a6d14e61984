import type { DialectChecks, DialectFinding } from '../config/foreign-checks.ts';
import { findMatcherFaults } from '../dialects/agentao/matcher.ts';
import { findConditionFault } from '../dialects/claude/condition/condition.ts';
import { findMatcherFault } from '../dialects/claude/matcher.ts';

/** The checks of config entries that the dialects provide. */
export const foreignChecks: DialectChecks = {
  claudeMatcher: (event, matcher) => errors(findMatcherFault(event, matcher)),
  claudeCondition: (rule) => errors(findConditionFault(rule)),
  agentaoMatcher: findMatcherFaults,
};

function errors(message: string | undefined): readonly DialectFinding[] {
  return message === undefined ? [] : [{ severity: 'error', message }];
}

/** A finding of a dialect about one of its matchers or conditions. */
export interface DialectFinding {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint?: string;
}

/** Checks of matchers and conditions that only the dialects can do; passed in from above. */
export interface DialectChecks {
  claudeMatcher(event: string, matcher: string): readonly DialectFinding[];
  claudeCondition(rule: string): readonly DialectFinding[];
  agentaoMatcher(event: string, matcher: Readonly<Record<string, unknown>>): readonly DialectFinding[];
}

/** Checks that find nothing, for callers that only need the config. */
export const noDialectChecks: DialectChecks = {
  claudeMatcher: () => [],
  claudeCondition: () => [],
  agentaoMatcher: () => [],
};

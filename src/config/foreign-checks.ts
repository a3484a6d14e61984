/** Something a dialect has to say about one of its own words. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint?: string;
}

/** What only a dialect can tell of its entries before anything runs; handed in from above. */
export interface ForeignChecks {
  claudeMatcher(event: string, matcher: string): readonly Finding[];
  claudeCondition(rule: string): readonly Finding[];
  agentaoMatcher(event: string, matcher: Readonly<Record<string, unknown>>): readonly Finding[];
}

/** Nothing to say: for whoever wants the config alone. */
export const noChecks: ForeignChecks = {
  claudeMatcher: () => [],
  claudeCondition: () => [],
  agentaoMatcher: () => [],
};

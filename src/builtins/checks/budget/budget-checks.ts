import type { Check } from '../check.ts';
import { costBudget } from './cost-budget.ts';
import { latencyBudget } from './latency-budget.ts';

/** Checks of what an answer took; they read `context.metadata`. */
export const budgetChecks: readonly Check[] = [latencyBudget, costBudget];

import { budgetChecks } from './budget/budget-checks.ts';
import type { Check } from './check.ts';
import { embeddingChecks } from './embedding/embedding-checks.ts';
import { instructionChecks } from './instructions/instruction-checks.ts';
import { jsonChecks } from './json/json-checks.ts';
import { judgeChecks } from './judge/judge-checks.ts';
import { referenceChecks } from './reference/reference-checks.ts';
import { textChecks } from './text/text-checks.ts';
import { toolChecks } from './tools/tool-checks.ts';

/** Every built-in check, in the order of the documentation. */
export const checks: readonly Check[] = [
  ...textChecks,
  ...referenceChecks,
  ...instructionChecks,
  ...jsonChecks,
  ...toolChecks,
  ...budgetChecks,
  ...judgeChecks,
  ...embeddingChecks,
];

/** The check of that type or alias. */
export function findCheck(type: string): Check | undefined {
  return byType.get(type);
}

/** Every type and alias, in the order of the documentation. */
export function checkTypes(): readonly string[] {
  return [...byType.keys()];
}

const byType: ReadonlyMap<string, Check> = new Map(
  checks.flatMap((check) => [check.type, ...check.aliases].map((name) => [name, check] as const)),
);

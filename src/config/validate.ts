import { locateViolation, withoutEchoes } from '../base/yaml/check.ts';
import type { YamlDocument } from '../base/yaml/document.ts';
import type { Problem } from '../base/yaml/problem.ts';
import { sortProblems } from '../base/yaml/problem.ts';
import { valueAt } from '../base/yaml/read.ts';
import { findViolations, type Violation } from '../base/yaml/violation.ts';
import { checkForeignEntries } from './build/foreign-entries.ts';
import { checkProviderTypes } from './build/providers.ts';
import { type CommandLookup, checkCommands } from './command/commands.ts';
import { withoutReferences } from './environment/reference.ts';
import { checkReferences } from './references.ts';
import { locateFinding } from './report.ts';
import { promptkitVersion, runtimeSchema } from './schema/schema.ts';
import { findUnfilledVariables } from './stray.ts';
import { tolerate } from './tolerate.ts';
import { findUnused } from './unused.ts';
import { wordViolation } from './words.ts';

/**
 * All problems of a RuntimeConfig document, in file order; `written` is what it was before variables were filled in, `unusable`
 * the severity of what does not keep the rest from opening.
 */
export function validate(
  document: YamlDocument,
  lookup: CommandLookup,
  {
    written = document,
    unusable,
  }: { readonly written?: YamlDocument; readonly unusable: 'error' | 'warning' },
): Problem[] {
  const tolerant = valueAt(document, ['apiVersion']) === promptkitVersion;
  const documentProblems = document.problems.map((problem) =>
    tolerant && problem === document.secondDocument ? asWarning(problem) : problem,
  );
  if (document.value === undefined) return sortProblems(documentProblems);
  const violations = findViolations(document.value, runtimeSchema);
  const uses = [
    ...checkProviderTypes(document, unusable),
    ...findUnfilledVariables(written, unusable, tolerant ? undefined : withoutReferences),
  ];
  const worded = violations.map((violation) => ({
    violation,
    problems: toProblems(document, violation, tolerant),
  }));
  // What is tolerated is no reason to pass over anything else.
  const refused = worded.flatMap(({ violation, problems }) =>
    problems.some(({ severity }) => severity === 'error') ? [violation] : [],
  );
  const beyond = [...checkReferences(document, tolerant), ...findUnused(document)];
  return sortProblems([
    ...documentProblems,
    ...worded.flatMap(({ problems }) => problems),
    ...withoutEchoes(document, beyond, { schema: runtimeSchema, violations: refused }).map((each) =>
      locateFinding(document, each),
    ),
    ...checkForeignEntries(document, lookup),
    ...uses.map((each) => locateFinding(document, each)),
    ...checkCommands(document, lookup),
  ]);
}

function asWarning(problem: Problem): Problem {
  return { ...problem, severity: 'warning', message: `${problem.message}; it is ignored` };
}

function toProblems(document: YamlDocument, violation: Violation, tolerant: boolean): Problem[] {
  const worded = wordViolation(document, violation);
  const problem = locateViolation(document, worded, runtimeSchema);
  if (!tolerant || worded.isStrict) return [problem];
  const tolerance = tolerate(document, violation);
  if (tolerance.as === 'error') return [problem];
  if (tolerance.as === 'fine') return [];
  return [{ ...problem, severity: 'warning', message: `${problem.message}; ${tolerance.reading}` }];
}

import { locate } from '../yaml/check.ts';
import type { YamlDocument } from '../yaml/document.ts';
import type { Problem } from '../yaml/problem.ts';
import { sortProblems } from '../yaml/problem.ts';
import { valueAt } from '../yaml/read.ts';
import { findViolations, type Violation } from '../yaml/violation.ts';
import { checkProviderTypes } from './build/providers.ts';
import { checkCommands, type Surroundings } from './command/commands.ts';
import { checkForeignEntries } from './foreign/check-entries.ts';
import { type ForeignChecks, noChecks } from './foreign-checks.ts';
import { checkReferences } from './references.ts';
import { report } from './report.ts';
import { promptkitVersion, runtimeSchema } from './schema/schema.ts';
import { findStrayVariables } from './stray.ts';
import { tolerate } from './tolerate.ts';
import { findUnused } from './unused.ts';
import { wordViolation } from './words.ts';

/** Everything there is to say about a RuntimeConfig, in the order of the file. */
export function validate(
  document: YamlDocument,
  surroundings: Surroundings,
  checks: ForeignChecks = noChecks,
): Problem[] {
  const tolerant = valueAt(document, ['apiVersion']) === promptkitVersion;
  const reading = document.problems.map((problem) =>
    tolerant && problem === document.secondDocument ? lessSerious(problem) : problem,
  );
  if (document.value === undefined) return sortProblems(reading);
  const violations = findViolations(document.value, runtimeSchema);
  // What can never work is no reason not to open the rest, but one not to pass the file.
  const unusable = surroundings.refusesUnusable && !tolerant ? 'error' : 'warning';
  const uses = [...checkProviderTypes(document, unusable), ...findStrayVariables(document, unusable)];
  return sortProblems([
    ...reading,
    ...violations.flatMap((violation) => judge(document, violation, tolerant)),
    ...checkReferences(document, tolerant),
    ...checkForeignEntries(document, surroundings, checks),
    ...findUnused(document),
    ...uses.map((each) => report(document, each)),
    ...checkCommands(document, surroundings, unusable),
  ]);
}

function lessSerious(problem: Problem): Problem {
  return { ...problem, severity: 'warning', message: `${problem.message}; it is ignored` };
}

function judge(document: YamlDocument, violation: Violation, tolerant: boolean): Problem[] {
  const worded = wordViolation(document, violation);
  const problem = locate(document, worded, runtimeSchema);
  if (!tolerant || worded.always) return [problem];
  const tolerance = tolerate(document, violation);
  if (tolerance.as === 'error') return [problem];
  if (tolerance.as === 'fine') return [];
  return [{ ...problem, severity: 'warning', message: `${problem.message}; ${tolerance.reading}` }];
}
